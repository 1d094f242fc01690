// A wrapper for the parts of SQLite that a history needs. Errors are exceptions, which engine/history/store.cpp
// converts to results.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dmlconform::history {

class SqlError : public std::runtime_error {
public:
    SqlError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
    /// The primary error code: SQLITE_BUSY, …
    [[nodiscard]] int code() const { return code_; }

private:
    int code_;
};

struct CloseDatabase {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
};
struct FinalizeStatement {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
};

/// A prepared statement. Parameters and columns count from 0.
class Statement {
public:
    Statement(sqlite3* database, std::string_view sql);

    Statement& bind(int parameter, std::int64_t value);
    Statement& bind(int parameter, double value);
    Statement& bind(int parameter, std::string_view value);
    Statement& bind_null(int parameter);

    /// Advances to the next row; false if there is none.
    [[nodiscard]] bool step();
    /// Runs a statement without rows, and resets it for other parameters.
    void run();

    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] std::string text(int column) const;

private:
    void check(int code) const;

    sqlite3* database_;
    std::unique_ptr<sqlite3_stmt, FinalizeStatement> handle_;
};

class Database {
public:
    /// `flags` are those of sqlite3_open_v2. Waits up to `busy_milliseconds` while others write.
    Database(const std::string& path, int flags, int busy_milliseconds);

    void execute(const std::string& sql);
    [[nodiscard]] Statement prepare(std::string_view sql) { return {handle_.get(), sql}; }
    /// The single number that a query returns.
    [[nodiscard]] std::int64_t number(std::string_view sql);
    [[nodiscard]] std::int64_t last_id() { return sqlite3_last_insert_rowid(handle_.get()); }

private:
    std::unique_ptr<sqlite3, CloseDatabase> handle_;
};

/// A transaction that is rolled back unless it is committed. A writing one locks the database first, so that it cannot
/// fail later because of other writers.
class Transaction {
public:
    enum class Access : std::uint8_t { read, write };

    Transaction(Database& database, Access access) : database_(database) {
        database_.execute(access == Access::write ? "BEGIN IMMEDIATE" : "BEGIN");
    }
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();

    void commit();

private:
    Database& database_;
    bool open_ = true;
};

}  // namespace dmlconform::history
