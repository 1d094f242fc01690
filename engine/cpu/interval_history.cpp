// Keeps the notes of the operations of intervals, each once.
#include <string>
#include <string_view>

#include "engine/cpu/interval_notes.h"

namespace dmlconform::cpu {

constinit thread_local IntervalHistory* IntervalNotes::current = nullptr;

void IntervalNotes::write(std::string_view operation, std::string_view error) {
    std::string& text = current->text_;
    std::string note(operation);
    note += ": ";
    note += error;
    if (("; " + text + ";").find("; " + note + ";") == std::string::npos) {
        text += text.empty() ? note : "; " + note;
    }
}

IntervalHistory::IntervalHistory() : outer_(IntervalNotes::current) {
    IntervalNotes::current = this;
}

IntervalHistory::~IntervalHistory() {
    IntervalNotes::current = outer_;
}

}  // namespace dmlconform::cpu
