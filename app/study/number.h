// Numbers for people: as many digits as tell something.
#ifndef LASH_APP_STUDY_NUMBER_H
#define LASH_APP_STUDY_NUMBER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Down to the third digit of sigma: 120.0003 for 120.00031 with sigma 0.0042 is "120.00031". A
// sigma of 0 or NAN gives nine digits. Returns text.
const char* lash_number_by_sigma(double value, double sigma, char* text, size_t size);
// The shortest text that reads back as the same number: a limit as it was given. Returns text.
const char* lash_number_exact(double value, char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
