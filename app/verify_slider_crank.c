#include "app/verify_internal.h"
ClaimTable verify_slider_crank(void) { return (ClaimTable){"Acary, RR-8029", 0, 0}; }
