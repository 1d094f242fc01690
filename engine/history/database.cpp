// Checked calls of SQLite.
#include "engine/history/database.h"

namespace dmlconform::history {
namespace {

[[noreturn]] void raise(sqlite3* database, int code) {
    // The low byte is the primary code.
    throw SqlError(code & 0xff, database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code));
}

}  // namespace

Statement::Statement(sqlite3* database, std::string_view sql) : database_(database) {
    sqlite3_stmt* handle = nullptr;
    const int code = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
    handle_.reset(handle);
    check(code);
}

void Statement::check(int code) const {
    if (code != SQLITE_OK) {
        raise(database_, code);
    }
}

Statement& Statement::bind(int parameter, std::int64_t value) {
    check(sqlite3_bind_int64(handle_.get(), parameter + 1, value));
    return *this;
}

Statement& Statement::bind(int parameter, double value) {
    check(sqlite3_bind_double(handle_.get(), parameter + 1, value));
    return *this;
}

Statement& Statement::bind(int parameter, std::string_view value) {
    check(sqlite3_bind_text64(handle_.get(), parameter + 1, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
}

Statement& Statement::bind_null(int parameter) {
    check(sqlite3_bind_null(handle_.get(), parameter + 1));
    return *this;
}

bool Statement::step() {
    const int code = sqlite3_step(handle_.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        raise(database_, code);
    }
    return code == SQLITE_ROW;
}

void Statement::run() {
    static_cast<void>(step());
    check(sqlite3_reset(handle_.get()));
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(handle_.get(), column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(handle_.get(), column);
}

std::string Statement::text(int column) const {
    const auto* text = sqlite3_column_text(handle_.get(), column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
    return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text), size);
}

Database::Database(const std::string& path, int flags, int busy_milliseconds) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
    handle_.reset(handle);
    if (code != SQLITE_OK) {
        raise(handle, code);
    }
    sqlite3_busy_timeout(handle, busy_milliseconds);
    // The file is untrusted, so schema features that execute code are disabled.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

void Database::execute(const std::string& sql) {
    if (const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr); code != SQLITE_OK) {
        raise(handle_.get(), code);
    }
}

std::int64_t Database::number(std::string_view sql) {
    Statement query = prepare(sql);
    return query.step() ? query.integer(0) : 0;
}

Transaction::~Transaction() {
    if (open_) {
        try {
            database_.execute("ROLLBACK");
        } catch (const SqlError&) {  // SQLite has rolled it back already
        }
    }
}

void Transaction::commit() {
    database_.execute("COMMIT");
    open_ = false;
}

}  // namespace dmlconform::history
