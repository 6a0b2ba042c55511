// SPDX-License-Identifier: LGPL-2.1-or-later
use std::fmt;
use std::io;

/// A refusal of the library, in one line that says what was wrong and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    number: i32,
    text: String,
}

impl Error {
    pub(crate) fn new(number: i32, text: impl Into<String>) -> Error {
        Error {
            number,
            text: text.into(),
        }
    }

    /// The refusal of the call that has just failed, with the library's line.
    pub(crate) fn last(text: impl Into<String>) -> Error {
        Error::new(io::Error::last_os_error().raw_os_error().unwrap_or(0), text)
    }

    /// The same where the library has no line: errno is put into words.
    pub(crate) fn last_of(what: &str) -> Error {
        let why = io::Error::last_os_error();
        Error::new(why.raw_os_error().unwrap_or(0), format!("{what}: {why}"))
    }

    /// The number as errno(3) has it, such as 22 for EINVAL.
    pub fn errno(&self) -> i32 {
        self.number
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::new(io::Error::from_raw_os_error(error.number).kind(), error)
    }
}
