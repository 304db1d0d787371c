//! The shared verdicts: every SDK must agree with them.
//!
//! The files are read with our own reader, since others would round the numbers in them.

mod shared;

use std::path::{Path, PathBuf};

use bq_contract::{Document, Kind, Schema, Value};

/// What one suite found.
struct Suite {
    name: &'static str,
    ran: usize,
    disagreements: Vec<String>,
}

impl Suite {
    fn new(name: &'static str) -> Self {
        Self { name, ran: 0, disagreements: Vec::new() }
    }

    /// Judges `data` and keeps the difference to what is expected, in words.
    fn case(&mut self, name: &str, schema: &str, data: &[u8], valid: bool, warnings: Option<Value<'_>>) {
        self.ran += 1;
        let difference = disagreement(schema, data, valid, warnings);
        self.disagreements.extend(difference.map(|words| format!("{name}: {words}")));
    }

    fn end(self, at_least: usize) {
        println!("{}: {} of {} cases agree", self.name, self.ran - self.disagreements.len(), self.ran);
        assert!(self.disagreements.is_empty(), "{}", self.disagreements.join("\n"));
        assert!(self.ran >= at_least, "{}: only {} cases ran", self.name, self.ran);
    }
}

fn disagreement(schema: &str, data: &[u8], valid: bool, warnings: Option<Value<'_>>) -> Option<String> {
    let schema = match Schema::parse(schema.as_bytes()) {
        Ok(schema) => schema,
        Err(error) => return Some(format!("no schema: {error}")),
    };
    let violations = schema.validate(data);
    if schema.is_valid(data) != valid || violations.as_ref().is_ok_and(Vec::is_empty) != valid {
        return Some(format!("valid should be {valid}, found {violations:?}"));
    }
    let found: Vec<_> = schema.warnings().iter().map(|w| (w.pointer.as_str(), w.keyword.as_str())).collect();
    let expected: Vec<_> = warnings?
        .items()
        .map(|pair| match pair.kind() {
            Kind::Array => (text(pair.items().next().unwrap()), text(pair.items().nth(1).unwrap())),
            _ => (text(pair.get("pointer").unwrap()), text(pair.get("keyword").unwrap())),
        })
        .collect();
    (found != expected).then(|| format!("warnings should be {expected:?}, found {found:?}"))
}

fn text(value: Value<'_>) -> &str {
    value.as_str().unwrap()
}

fn parse(path: &Path) -> Document {
    Document::parse(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn validator_vectors() {
    let Some(path) = shared::folder("vectors/validator.ndjson") else { return };
    let mut suite = Suite::new("vectors/validator");
    for (line, case) in std::fs::read_to_string(path).unwrap().lines().enumerate() {
        let case = Document::parse(case.as_bytes()).unwrap();
        let member = |name| case.root().get(name).unwrap();
        suite.case(
            &format!("line {}", line + 1),
            text(member("schema")),
            text(member("data")).as_bytes(),
            member("valid").as_bool().unwrap(),
            Some(member("warnings")),
        );
    }
    suite.end(4000);
}

#[test]
fn conformance_payload_schema() {
    let Some(path) = shared::folder("conformance/manifest.json") else { return };
    let mut suite = Suite::new("conformance payload_schema");
    for section in parse(&path).root().members().filter(|section| section.name.starts_with("payload_schema")) {
        let schema = section.value.get("schema").unwrap().text();
        for case in section.value.get("cases").unwrap().items() {
            let name = format!("{}/{}", section.name, text(case.get("name").unwrap()));
            let data = case.get("data").unwrap().text().as_bytes();
            suite.case(&name, schema, data, case.get("valid").unwrap().as_bool().unwrap(), None);
        }
    }
    suite.end(13);
}

/// `cases/reported.json`: what went wrong in other tools. A case may accept several answers.
#[test]
fn reported_validator_cases() {
    let Some(path) = shared::folder("cases/reported.json") else { return };
    let mut suite = Suite::new("cases/reported validator");
    for case in parse(&path).root().items().filter(|case| text(case.get("area").unwrap()) == "validator") {
        let (input, expect) = (case.get("input").unwrap(), case.get("expect").unwrap());
        let schema = input.get("schema_text").map_or_else(|| input.get("schema").unwrap().text(), text);
        let data = match (input.get("data"), input.get("data_base64"), input.get("data_gen")) {
            (Some(data), ..) => text(data).as_bytes().to_vec(),
            (_, Some(base64), _) if text(base64) == "77u/e30=" => b"\xEF\xBB\xBF{}".to_vec(),
            (.., Some(nested_array)) => {
                let depth = nested_array.get("depth").unwrap().text().parse().unwrap();
                [vec![b'['; depth], vec![b']'; depth]].concat()
            }
            other => panic!("unknown form of input: {other:?}"),
        };
        let name = text(case.get("id").unwrap());
        let accepts = |answer| expect.get("accept").is_some_and(|all| all.items().any(|a| text(a) == answer));
        let refused = Schema::parse(schema.as_bytes()).unwrap().validate(&data).is_err();
        let expected = expect.get("valid").and_then(Value::as_bool).unwrap_or_else(|| accepts("valid"));
        if refused && accepts("clean_error") {
            suite.ran += 1;
        } else {
            suite.case(name, schema, &data, expected, expect.get("warnings"));
        }
    }
    suite.end(30);
}

/// The groups of the official draft-07 suite whose schemas keep to the ten keywords.
#[test]
fn official_suite() {
    let Some(folder) = shared::folder("json-schema-test-suite/draft7") else { return };
    let mut suite = Suite::new("json-schema-test-suite draft7, ten keywords");
    for file in files(folder) {
        for group in parse(&file).root().items() {
            let schema = group.get("schema").unwrap().text();
            if Schema::parse(schema.as_bytes()).is_ok_and(|schema| !schema.warnings().is_empty()) {
                continue;
            }
            for test in group.get("tests").unwrap().items() {
                let name = [group, test].map(|it| text(it.get("description").unwrap())).join(": ");
                let data = test.get("data").unwrap().text().as_bytes();
                suite.case(&name, schema, data, test.get("valid").unwrap().as_bool().unwrap(), None);
            }
        }
    }
    suite.end(302);
}

fn files(folder: PathBuf) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.push(path);
        }
    }
    found
}
