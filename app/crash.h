// What a crash of this process looks like to another that waits for it.
#pragma once

namespace dmlconform::app {

/// On Windows, lets a crash end the process at once, with a line about it: no dialogue that waits for somebody to close
/// it, and under Wine no debugger, which can hang. Elsewhere a crash is a signal and does just that.
void end_at_once_on_crash();

}  // namespace dmlconform::app
