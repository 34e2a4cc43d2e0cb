// What a contact between round features pushes, to 30 digits.
#ifndef LASH_JOINTS_CONTACT_WIDE_H
#define LASH_JOINTS_CONTACT_WIDE_H

#include "joints/contact/contact.h"

// x (6 per body but the ground) += the columns of contact_directions times P (rows), with the bodies at
// q (+) s d. near: the state there, of doubles. False: they are not round, or do not face each other.
bool contact_push_wide(const Contact* contact, const double* q, double s, const double* d,
                       const ContactState* near, LashLevers levers, int rows, const double* P,
                       LashWide* x);

#endif
