// Files for --batch: one problem in each line, as an operator's name with --sizes, --strides, --attr and --type.
#pragma once

#include <span>
#include <string>

#include "app/shape_options.h"
#include "engine/cases/corpus.h"
#include "engine/core/error.h"

namespace dmlconform::app {

/// Makes the cases of all lines. Empty lines and what follows "#" are left out, as are lines of operators that are not
/// in `operators`, unless that is empty. `type` applies to lines without --type. Mistakes are problems of the corpus,
/// with their lines. Repeated problems occur once, which `repeated` counts. Fails if the file cannot be read.
[[nodiscard]] core::Result<cases::Corpus> read_batch(const std::string& file, std::span<const std::string> operators,
                                                     const std::string& type, const cases::ReadOptions& options,
                                                     const cases::CaseVisitor& visit, std::size_t& repeated);

}  // namespace dmlconform::app
