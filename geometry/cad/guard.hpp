// One guard around every entry into OpenCASCADE: its exceptions, ours and the library's signals
// become a LashError.
#ifndef LASH_GEOMETRY_GUARD_HPP
#define LASH_GEOMETRY_GUARD_HPP

#include <Standard_ErrorHandler.hxx>
#include <Standard_Failure.hxx>
#include <exception>
#include <new>

#include "core/error.h"

namespace lash {

// A defect of the user's file, found on our side of the fence.
struct BadInput {
    char message[480];
};

template <typename Body>
bool guard(LashError* error, const char* where, Body body) {
    try {
        OCC_CATCH_SIGNALS
        return body();
    } catch (const BadInput& bad) {
        return lash_error_set(error, LASH_ERROR_CAD, "", "%s", bad.message);
    } catch (const Standard_Failure& failure) {
        return lash_error_set(error, LASH_ERROR_CAD, where, "OpenCASCADE failed while %s: %s %s",
                              where, failure.DynamicType()->Name(), failure.GetMessageString());
    } catch (const std::bad_alloc&) {
        return lash_error_set(error, LASH_ERROR_CAD, where, "out of memory while %s", where);
    } catch (const std::exception& failure) {
        return lash_error_set(error, LASH_ERROR_CAD, where, "failure while %s: %s", where,
                              failure.what());
    } catch (...) {
        return lash_error_set(error, LASH_ERROR_CAD, where, "unknown failure while %s", where);
    }
}

} // namespace lash
#endif
