// Surfaces of the primitive shapes of model files.
#ifndef LASH_APP_PRIMITIVE_H
#define LASH_APP_PRIMITIVE_H

#include "app/model/model.h"

LashShape* model_primitive(const LashModelShape* shape); // the caller destroys it

#endif
