// Tables of operators that are assembled from several files: each file returns entries, and the build lists the files
// (cmake/Registry.cmake).
#pragma once

#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dmlconform::core {

/// A file and the entries that it returns: a vector of structures with a `name`, which is an operator's short name.
template <class Rows>
struct RegistryFile {
    std::string_view file;
    Rows (*rows)();
};

/// The entries of all files by name. They live as long as the program. Throws if two entries have the same name.
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

    /// Null if no file has an entry for the operator.
    [[nodiscard]] const Row* find(std::string_view name) const {
        const auto found = rows_.find(name);
        return found == rows_.end() ? nullptr : &found->second;
    }

    [[nodiscard]] const std::map<std::string, Row, std::less<>>& rows() const { return rows_; }

private:
    std::map<std::string, Row, std::less<>> rows_;
};

}  // namespace dmlconform::core
