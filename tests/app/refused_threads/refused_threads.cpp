// Preloaded into a program (LD_PRELOAD), this library lets it create MOST_THREADS threads and makes all further
// pthread_create calls fail, like a system without resources.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) noexcept {
    static const char* const most = std::getenv("MOST_THREADS");
    static std::atomic<int> made{0};
    if (most != nullptr && made++ >= std::atoi(most)) {
        return EAGAIN;
    }
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    return create(thread, attributes, function, argument);
}
