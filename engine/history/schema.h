// The tables of a history, as docs/history.md describes them.
#pragma once

namespace dmlconform::history {

/// "DMLH", which identifies the file's format in its header.
inline constexpr int application_id = 0x444d4c48;
/// Incremented when a table changes. Histories of all earlier versions are read, and writing brings them up to date.
inline constexpr int schema_version = 2;
/// From this version on, `times` has labels.
inline constexpr int version_with_labels = 2;

inline constexpr const char* add_labels = "ALTER TABLE times ADD COLUMN label TEXT NOT NULL DEFAULT ''";

inline constexpr const char* schema = R"(
CREATE TABLE entry (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    measured INTEGER NOT NULL,
    added INTEGER NOT NULL,
    "commit" TEXT NOT NULL,
    machine TEXT NOT NULL,
    source TEXT NOT NULL,
    fingerprint TEXT NOT NULL UNIQUE
);
CREATE TABLE device (
    entry INTEGER NOT NULL REFERENCES entry,
    engine TEXT NOT NULL,
    adapter TEXT NOT NULL,
    driver TEXT NOT NULL,
    PRIMARY KEY (entry, engine)
) WITHOUT ROWID;
CREATE TABLE times (
    entry INTEGER NOT NULL REFERENCES entry,
    benchmark TEXT NOT NULL,
    engine TEXT NOT NULL,
    median REAL NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL,
    percent_of_roofline REAL,
    seconds TEXT NOT NULL,
    label TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (entry, benchmark)
) WITHOUT ROWID;
CREATE TABLE outcome (
    entry INTEGER NOT NULL REFERENCES entry,
    engine TEXT NOT NULL,
    operator TEXT NOT NULL,
    gated INTEGER NOT NULL,
    counts TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (entry, engine, operator, gated)
) WITHOUT ROWID;
)";

}  // namespace dmlconform::history
