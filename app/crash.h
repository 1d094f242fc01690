// Makes a crash of this process visible to the process that waits for it.
#pragma once

namespace dmlconform::app {

/// On Windows, ends the process immediately after a crash, with a message: without a dialogue that waits for the user,
/// and under Wine without a debugger, which can hang. On other systems the signal of a crash does that already.
void end_at_once_on_crash();

}  // namespace dmlconform::app
