// Formulas of sizes as text. Templates that compute sizes also accept SizeFormula as their number type, and then return
// the formula that they compute. So what `describe` shows is what the rules check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dmlconform::operators {

class SizeFormula {
public:
    SizeFormula() : SizeFormula(0) {}
    SizeFormula(std::uint64_t number) : text_(std::to_string(number)), number_(number), is_number_(true) {}
    explicit SizeFormula(std::string_view symbol) : text_(symbol) {}

    [[nodiscard]] const std::string& text() const { return text_; }

    friend SizeFormula operator+(const SizeFormula& a, const SizeFormula& b) {
        if (a.is(0) || b.is(0)) {
            return a.is(0) ? b : a;
        }
        return {a.text_ + " + " + b.text_, Form::sum};
    }
    friend SizeFormula operator-(const SizeFormula& a, const SizeFormula& b) {
        return b.is(0) ? a : SizeFormula(a.text_ + " - " + b.inside(Form::product), Form::sum);
    }
    friend SizeFormula operator*(const SizeFormula& a, const SizeFormula& b) {
        if (a.is_number_ && b.is_number_) {
            return a.number_ * b.number_;
        }
        if (a.is(1) || b.is(1)) {
            return a.is(1) ? b : a;
        }
        return {a.inside(Form::product) + " * " + b.inside(Form::product), Form::product};
    }
    /// Division of integers, which rounds down.
    friend SizeFormula operator/(const SizeFormula& a, const SizeFormula& b) {
        return SizeFormula("floor(" + a.inside(Form::product) + " / " + b.inside(Form::symbol) + ")");
    }

private:
    enum class Form : std::uint8_t { sum, product, symbol };

    SizeFormula(std::string text, Form form) : text_(std::move(text)), form_(form) {}

    [[nodiscard]] bool is(std::uint64_t number) const { return is_number_ && number_ == number; }
    /// The text as an operand, in parentheses if it binds less than `needed`.
    [[nodiscard]] std::string inside(Form needed) const { return form_ < needed ? "(" + text_ + ")" : text_; }

    std::string text_;
    std::uint64_t number_ = 0;
    bool is_number_ = false;
    Form form_ = Form::symbol;
};

/// "OutputTensor = [1, steps, batch]"
[[nodiscard]] inline std::string sizes_line(std::string_view tensor, const std::vector<SizeFormula>& sizes) {
    std::string line = std::string(tensor) + " = [";
    for (const SizeFormula& size : sizes) {
        line += (line.ends_with('[') ? "" : ", ") + size.text();
    }
    return line + "]";
}

/// "OutputTensor[d] = InputTensor[d] * Repeats[d]"
[[nodiscard]] inline std::string size_line(std::string_view size, const SizeFormula& formula) {
    return std::string(size) + " = " + formula.text();
}

}  // namespace dmlconform::operators
