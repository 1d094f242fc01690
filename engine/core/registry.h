// Tables of operators that are put together from files: each file returns rows, and the build knows the files
// (cmake/Registry.cmake).
#pragma once

#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dmlconform::core {

/// A file and the rows that it returns: a vector of structures that have a `name`, an operator's short one.
template <class Rows>
struct RegistryFile {
    std::string_view file;
    Rows (*rows)();
};

/// The rows of all files by their names, which live as long as the program. Throws when two rows claim one operator.
template <class Rows>
class Registry {
public:
    using Row = typename Rows::value_type;

    explicit Registry(std::span<const RegistryFile<Rows>> files) {
        for (const RegistryFile<Rows>& file : files) {
            for (Row& row : file.rows()) {
                const std::string name(row.name);
                if (!rows_.emplace(name, std::move(row)).second) {
                    throw std::logic_error(name + " is claimed twice, the second time by " + std::string(file.file));
                }
            }
        }
    }

    /// Null when no file has the operator.
    [[nodiscard]] const Row* find(std::string_view name) const {
        const auto found = rows_.find(name);
        return found == rows_.end() ? nullptr : &found->second;
    }

    [[nodiscard]] const std::map<std::string, Row, std::less<>>& rows() const { return rows_; }

private:
    std::map<std::string, Row, std::less<>> rows_;
};

}  // namespace dmlconform::core
