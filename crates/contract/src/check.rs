//! Holding messages to their contracts: `data` before it is published, envelopes when they arrive.
//!
//! [`check`] is the producer's guard, [`wrap`] the consumer's, [`validate`] the same for an
//! envelope at hand. [`Checker`] does what [`validate`] does for a stream of envelopes, without an
//! allocation a message.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use serde::Serialize;

use crate::json::scan::{self, At, Str};
use crate::json::{DEFAULT_DEPTH, Kind, ReadError};
use crate::provider::{Provider, ProviderError};
use crate::schema::{ANY, Names, Schema};
use crate::validate::{Next, Scratch, Violation, ends, explain, judge, next_member, skip};

/// What a message turned out to be.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// Its `data` fulfils the schema of its URN.
    Valid,
    /// Its `data` does not.
    Invalid(Vec<Violation>),
    /// Its URN has no schema: nothing was validated.
    Unregistered,
    /// It carries no URN: nothing was validated.
    NoUrn,
    /// It is no JSON object with an object as `data`.
    Malformed(Malformed),
    /// Its schema could not be had.
    Lookup(ProviderError),
}

/// Why a body is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// It is not JSON.
    #[error(transparent)]
    NotJson(#[from] ReadError),
    /// It, or its `data`, is JSON of another kind than object.
    #[error("{part} must be an object, found {}", found.with_article())]
    NotAnObject {
        /// `the message` or `data`.
        part: &'static str,
        /// What it is.
        found: Kind,
    },
}

/// What was done with a message that is not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Its `data` was validated and fulfils the schema.
    Valid,
    /// Its URN has no schema, so nothing was validated.
    Unregistered,
    /// It carries no URN, so nothing was validated.
    NoUrn,
}

/// Why a message is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The data does not fulfil the schema, and will not when tried again: dead-letter it.
    #[error("data of `{urn}` does not match its schema: {}", summary(violations))]
    InvalidPayload {
        /// The message's URN.
        urn: String,
        /// Every way in which it does not; never empty.
        violations: Vec<Violation>,
    },
    /// The bytes are no message, and will not be when tried again: dead-letter it.
    #[error("the message cannot be read")]
    Malformed(#[from] Malformed),
    /// The data cannot be written as JSON.
    #[error("the data cannot be written as JSON")]
    Serialize(#[from] serde_json::Error),
    /// The schema could not be had just now: retry.
    #[error("cannot look up the schema of `{urn}`")]
    Lookup {
        /// The message's URN.
        urn: String,
        /// Why not.
        source: ProviderError,
    },
}

impl CheckError {
    /// Returns whether the same message may pass when it is tried again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Lookup { .. })
    }
}

fn summary(violations: &[Violation]) -> String {
    let first = violations.first().map(Violation::to_string).unwrap_or_default();
    match violations.len() {
        0 | 1 => first,
        more => format!("{first} (and {} more)", more - 1),
    }
}

/// Checks `data`, JSON text, against the schema of `urn`: the guard before publishing.
///
/// # Errors
/// [`CheckError`] tells data that will never pass from a look-up that may succeed later.
pub fn check(provider: &(impl Provider + ?Sized), urn: &str, data: &[u8]) -> Result<Checked, CheckError> {
    let lookup = |source| CheckError::Lookup { urn: urn.to_owned(), source };
    let Some(schema) = provider.schema(urn).map_err(lookup)? else { return Ok(Checked::Unregistered) };
    match schema.validate(data).map_err(Malformed::from)? {
        violations if violations.is_empty() => Ok(Checked::Valid),
        violations => Err(CheckError::InvalidPayload { urn: urn.to_owned(), violations }),
    }
}

/// Does what [`check`] does for data that is still a value of the program: a `serde_json::Value`
/// or any struct that serialises.
///
/// # Errors
/// As [`check`], and [`CheckError::Serialize`].
pub fn check_value(
    provider: &(impl Provider + ?Sized),
    urn: &str,
    data: &(impl Serialize + ?Sized),
) -> Result<Checked, CheckError> {
    check(provider, urn, &serde_json::to_vec(data)?)
}

/// Checks the `data` of an envelope against the schema of its URN.
///
/// The URN is `job`, or `urn` where `job` is no string or blank. Absent or null `data` is `{}`.
///
/// # Errors
/// As [`check`].
pub fn validate(provider: &(impl Provider + ?Sized), envelope: &[u8]) -> Result<Checked, CheckError> {
    let mut checker = Checker::new(provider);
    let message = checker.check(envelope);
    let urn = message.urn().unwrap_or_default().into_owned();
    match message.outcome {
        Outcome::Valid => Ok(Checked::Valid),
        Outcome::Unregistered => Ok(Checked::Unregistered),
        Outcome::NoUrn => Ok(Checked::NoUrn),
        Outcome::Invalid(violations) => Err(CheckError::InvalidPayload { urn, violations }),
        Outcome::Malformed(malformed) => Err(malformed.into()),
        Outcome::Lookup(source) => Err(CheckError::Lookup { urn, source }),
    }
}

/// Why a wrapped handler did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum WrapError<E> {
    /// The message was refused; the handler did not run.
    #[error(transparent)]
    Refused(#[from] CheckError),
    /// The handler's own error.
    #[error("the handler failed")]
    Handler(#[source] E),
}

/// Returns `handler` behind a check: it runs only for envelopes whose data fulfils their schema or
/// whose URN has none.
///
/// ```
/// use bq_contract::{MapProvider, WrapError, wrap};
/// let provider = MapProvider::new([("urn:babel:a:b", r#"{"required": ["id"]}"#)])?;
/// let handle = wrap(provider, |envelope: &[u8]| -> Result<usize, std::io::Error> { Ok(envelope.len()) });
/// assert_eq!(handle(br#"{"job":"urn:babel:a:b","data":{"id":1}}"#)?, 39);
/// assert!(matches!(handle(br#"{"job":"urn:babel:a:b","data":{}}"#), Err(WrapError::Refused(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn wrap<T, E>(
    provider: impl Provider,
    handler: impl Fn(&[u8]) -> Result<T, E>,
) -> impl Fn(&[u8]) -> Result<T, WrapError<E>> {
    move |envelope| {
        validate(&provider, envelope)?;
        handler(envelope).map_err(WrapError::Handler)
    }
}

/// A message that was looked at.
#[derive(Debug)]
pub struct Message<'t> {
    envelope: &'t [u8],
    urn: Option<Str>,
    /// What it turned out to be.
    pub outcome: Outcome,
}

impl<'t> Message<'t> {
    /// Returns its URN, if it carries one.
    #[must_use]
    pub fn urn(&self) -> Option<Cow<'t, str>> {
        self.urn.map(|urn| plain(self.envelope, urn))
    }
}

/// Checks envelope after envelope. Keeps the schemas that it has looked up, so a change at the
/// provider is seen by a new checker only.
///
/// ```
/// use bq_contract::{Checker, MapProvider, Outcome};
/// let provider = MapProvider::new([("urn:babel:a:b", r#"{"required": ["id"]}"#)])?;
/// let mut checker = Checker::new(&provider);
/// assert!(matches!(checker.check(br#"{"job":"urn:babel:a:b","data":{"id":1}}"#).outcome, Outcome::Valid));
/// # Ok::<(), bq_contract::RegisterError>(())
/// ```
pub struct Checker<P> {
    provider: P,
    /// The URNs looked up so far, and their schemas.
    urns: Names,
    schemas: Vec<Known>,
    envelope: Known,
    depth: usize,
}

/// A schema, and the order in which the members of its messages came the last time.
struct Known {
    schema: Arc<Schema>,
    followers: Vec<u32>,
}

impl Known {
    fn new(schema: Arc<Schema>) -> Self {
        let mut followers = Vec::new();
        schema.followers(&mut followers);
        Self { schema, followers }
    }

    /// Runs `work` with the buffers made ready for the schema.
    fn with<T>(&mut self, scratch: &mut Scratch, work: impl FnOnce(&Schema, &mut Scratch) -> T) -> T {
        std::mem::swap(&mut self.followers, &mut scratch.followers);
        let result = work(&self.schema, scratch);
        std::mem::swap(&mut self.followers, &mut scratch.followers);
        result
    }
}

/// What the walk expects of an envelope: its members in their canonical order. It judges none.
static ENVELOPE: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let meta = br#"{"properties": {"job": true, "trace_id": true, "data": true, "meta": {"properties": {"id": true,
        "queue": true, "lang": true, "schema_version": true, "created_at": true}}, "attempts": true, "urn": true}}"#;
    Arc::new(Schema::parse(meta).expect("the text above is a schema"))
});

/// Places among the members of [`ENVELOPE`].
const JOB: Option<u32> = Some(0);
const DATA: Option<u32> = Some(2);
const URN: Option<u32> = Some(5);

/// The places in an envelope that count.
#[derive(Default)]
struct Parts {
    job: Option<Str>,
    urn: Option<Str>,
    data: Option<Range<usize>>,
    /// What `data` turned out to be under the schema of the `job` that stood before it.
    judged: Option<bool>,
}

/// What is known of an envelope before anything is put into words.
enum Verdict {
    Known(Outcome),
    Valid,
    Invalid(Range<usize>),
}

impl<P: Provider> Checker<P> {
    /// Returns a checker that asks `provider` for schemas.
    pub fn new(provider: P) -> Self {
        Self::with_depth(provider, DEFAULT_DEPTH)
    }

    /// Returns a checker for envelopes in which containers may nest `depth` deep.
    pub fn with_depth(provider: P, depth: usize) -> Self {
        let envelope = Known::new(Arc::clone(&ENVELOPE));
        Self { provider, urns: Names::default(), schemas: Vec::new(), envelope, depth }
    }

    /// Returns whether the envelope is well-formed and its data, if its URN has a schema, valid.
    ///
    /// # Errors
    /// [`ProviderError`] where the schema could not be had.
    pub fn is_valid(&mut self, envelope: &[u8]) -> Result<bool, ProviderError> {
        match Scratch::with(|scratch| self.verdict(envelope, scratch)) {
            (_, Ok(Verdict::Valid | Verdict::Known(Outcome::Unregistered | Outcome::NoUrn))) => Ok(true),
            (_, Ok(Verdict::Known(Outcome::Lookup(error)))) => Err(error),
            _ => Ok(false),
        }
    }

    /// Returns what `envelope` is, with every violation.
    pub fn check<'t>(&mut self, envelope: &'t [u8]) -> Message<'t> {
        let depth = self.depth;
        Scratch::with(|scratch| {
            let (urn, verdict) = self.verdict(envelope, scratch);
            let outcome = match verdict {
                Ok(Verdict::Known(outcome)) => outcome,
                Ok(Verdict::Valid) => Outcome::Valid,
                Ok(Verdict::Invalid(data)) => match urn.map(|urn| self.schema(envelope, urn, scratch)) {
                    Some(Ok(Some(known))) => {
                        known.with(scratch, |schema, scratch| explain_data(schema, envelope, data, depth, scratch))
                    }
                    _ => Outcome::Unregistered,
                },
                Err(at) => Outcome::Malformed(ReadError::new(envelope, at).into()),
            };
            Message { envelope, urn, outcome }
        })
    }

    /// Returns the schema of the URN at `urn`, from the provider the first time.
    fn schema(&mut self, text: &[u8], urn: Str, scratch: &mut Scratch) -> Result<Option<&mut Known>, ProviderError> {
        let place = match self.urns.find(text, urn, &mut scratch.plain) {
            Some(place) => place,
            None => {
                let urn = plain(text, urn);
                let Some(schema) = self.provider.schema(&urn)? else { return Ok(None) };
                self.schemas.push(Known::new(schema));
                self.urns.insert(&urn)
            }
        };
        Ok(Some(&mut self.schemas[place as usize]))
    }

    fn verdict(&mut self, text: &[u8], scratch: &mut Scratch) -> (Option<Str>, Result<Verdict, At>) {
        std::mem::swap(&mut self.envelope.followers, &mut scratch.followers);
        let parts = self.parts(text, scratch);
        std::mem::swap(&mut self.envelope.followers, &mut scratch.followers);
        let parts = match parts {
            Ok(Ok(parts)) => parts,
            Ok(Err(found)) => return (None, Ok(Verdict::Known(not_an_object("the message", found)))),
            Err(at) => return (None, Err(at)),
        };
        let urn = [parts.job, parts.urn].into_iter().flatten().find(|urn| !is_blank(text, *urn));
        (urn, self.data_verdict(text, &parts, urn, scratch))
    }

    fn data_verdict(
        &mut self,
        text: &[u8],
        parts: &Parts,
        urn: Option<Str>,
        scratch: &mut Scratch,
    ) -> Result<Verdict, At> {
        let data = parts.data.clone().filter(|data| text[data.start] != b'n');
        if let Some(found) = data.as_ref().map(|data| kind(text[data.start])).filter(|kind| *kind != Kind::Object) {
            return Ok(Verdict::Known(not_an_object("data", found)));
        }
        let Some(urn) = urn else { return Ok(Verdict::Known(Outcome::NoUrn)) };
        let valid = if let Some(valid) = parts.judged {
            valid
        } else {
            let depth = self.depth.saturating_sub(1);
            match self.schema(text, urn, scratch) {
                Err(error) => return Ok(Verdict::Known(Outcome::Lookup(error))),
                Ok(None) => return Ok(Verdict::Known(Outcome::Unregistered)),
                Ok(Some(known)) => {
                    let (text, start) = data.as_ref().map_or((&b"{}"[..], 0), |data| (text, data.start));
                    known.with(scratch, |schema, scratch| judge(schema, text, start, depth, scratch))?.0
                }
            }
        };
        Ok(if valid { Verdict::Valid } else { Verdict::Invalid(data.unwrap_or_default()) })
    }

    /// Reads over an envelope, judging `data` on the way where its URN stands before it. Answers
    /// with the kind of a body that is no object.
    fn parts(&mut self, text: &[u8], scratch: &mut Scratch) -> Result<Result<Parts, Kind>, At> {
        let depth = self.depth.saturating_sub(1);
        let mut pos = scan::space(text, 0);
        if scan::byte(text, pos) != b'{' {
            let end = skip(&ENVELOPE, ANY, text, pos, self.depth, scratch)?;
            ends(text, end)?;
            return Ok(Err(kind(text[pos])));
        }
        let envelope: &Schema = &ENVELOPE;
        let fields = envelope.node(envelope.root()).fields;
        let mut follower = envelope.fields[fields as usize].followers;
        let mut parts = Parts::default();
        let mut first = true;
        loop {
            let member = match next_member(envelope, fields, follower, text, pos, first, scratch)? {
                Next::End(end) => {
                    ends(text, end)?;
                    return Ok(Ok(parts));
                }
                Next::Member(member, _, value) => {
                    pos = scan::space(text, value);
                    member
                }
            };
            first = false;
            let start = pos;
            let string = if scan::byte(text, pos) == b'"' { Some(scan::string(text, pos + 1)?) } else { None };
            let place = member.map(|member| member.place);
            pos = match string {
                Some(string) => string.end + 1,
                None if place == DATA => self.data(text, pos, &mut parts, scratch)?,
                None => skip(envelope, member.map_or(ANY, |member| member.node), text, pos, depth, scratch)?,
            };
            match place {
                JOB => (parts.job, parts.judged) = (string, None),
                URN => parts.urn = string,
                DATA => parts.data = Some(start..pos),
                _ => {}
            }
            follower = member.map_or(follower, |member| member.after);
        }
    }

    /// Reads over `data`, judging it where the `job` before it has a schema; returns its end.
    fn data(&mut self, text: &[u8], start: usize, parts: &mut Parts, scratch: &mut Scratch) -> Result<usize, At> {
        let depth = self.depth.saturating_sub(1);
        parts.judged = None;
        if let Some(job) = parts.job
            && scan::byte(text, start) == b'{'
            && !is_blank(text, job)
            && let Ok(Some(known)) = self.schema(text, job, scratch)
        {
            let judged = known.with(scratch, |schema, scratch| judge(schema, text, start, depth, scratch));
            let (valid, end) = judged?;
            parts.judged = Some(valid);
            return Ok(end);
        }
        skip(&ENVELOPE, ANY, text, start, depth, scratch)
    }
}

fn explain_data(schema: &Schema, text: &[u8], data: Range<usize>, depth: usize, scratch: &mut Scratch) -> Outcome {
    let (text, start) = if data.is_empty() { (&b"{}"[..], 0) } else { (text, data.start) };
    match explain(schema, text, start, depth.saturating_sub(1), scratch) {
        Ok(violations) => Outcome::Invalid(violations),
        Err(at) => Outcome::Malformed(ReadError::new(text, at).into()),
    }
}

fn not_an_object(part: &'static str, found: Kind) -> Outcome {
    if part != "data" && found == Kind::Null {
        return Outcome::NoUrn;
    }
    Outcome::Malformed(Malformed::NotAnObject { part, found })
}

fn plain(text: &[u8], string: Str) -> Cow<'_, str> {
    scan::unescape(std::str::from_utf8(&text[string.start..string.end]).unwrap_or_default())
}

/// Blank means ASCII white space only, with vertical tab and form feed.
fn is_blank(text: &[u8], string: Str) -> bool {
    let blank = |b: u8| matches!(b, b' ' | b'\t' | b'\n' | 0x0B | 0x0C | b'\r');
    match text[string.start] {
        b'!'.. if !string.escaped && string.start < string.end => false,
        _ => plain(text, string).bytes().all(blank),
    }
}

/// Returns the kind of the JSON value that starts with `first`.
fn kind(first: u8) -> Kind {
    match first {
        b'{' => Kind::Object,
        b'[' => Kind::Array,
        b'"' => Kind::String,
        b't' | b'f' => Kind::Bool,
        b'n' => Kind::Null,
        _ => Kind::Number,
    }
}
