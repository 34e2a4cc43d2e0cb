// Layout of a frame and of the datasets that hold it.
#include <stddef.h>

#include "app/run/record_internal.h"

const SeriesSpec record_spec[LASH_SERIES_COUNT] = {
    [LASH_SERIES_TIME] = {"time", "s", PER_RUN, 1, false},
    [LASH_SERIES_POSITION] = {"bodies/position", "m", PER_BODY, 3, false},
    [LASH_SERIES_ORIENTATION] = {"bodies/orientation", "1", PER_BODY, 4, false},
    [LASH_SERIES_VELOCITY] = {"bodies/velocity", "m/s", PER_BODY, 3, false},
    [LASH_SERIES_ANGULAR_VELOCITY] = {"bodies/angular_velocity", "rad/s", PER_BODY, 3, false},
    [LASH_SERIES_JOINT_COORDINATE] = {"joints/coordinate", "rad or m", PER_JOINT, OF_LAYOUT, false},
    [LASH_SERIES_JOINT_SPEED] = {"joints/speed", "rad/s or m/s", PER_JOINT, OF_LAYOUT, false},
    [LASH_SERIES_JOINT_FORCE] = {"joints/force", "N", PER_JOINT, 3, false},
    [LASH_SERIES_JOINT_MOMENT] = {"joints/moment", "N m", PER_JOINT, 3, false},
    [LASH_SERIES_JOINT_ECCENTRICITY] = {"joints/eccentricity", "m", PER_JOINT, 1, false},
    [LASH_SERIES_JOINT_TILT] = {"joints/tilt", "rad", PER_JOINT, 1, false},
    [LASH_SERIES_JOINT_POINTS] = {"joints/contact_points", "1", PER_JOINT, 1, true},
    [LASH_SERIES_JOINT_IMPACTS] = {"joints/impacts", "1", PER_JOINT, 1, true},
    [LASH_SERIES_JOINT_WEAR] = {"joints/wear", "J", PER_JOINT, 1, false},
    [LASH_SERIES_JOINT_WORK_NET] = {"joints/contact_work", "J", PER_JOINT, 1, false},
    [LASH_SERIES_CONTACT_GAP] = {"contacts/gap", "m", PER_CONTACT, 1, false},
    [LASH_SERIES_CONTACT_IMPULSE] = {"contacts/impulse", "N s", PER_CONTACT, 3, false},
    [LASH_SERIES_CONTACT_FORCE] = {"contacts/force", "N", PER_CONTACT, 3, false},
    [LASH_SERIES_CONTACT_PEAK] = {"contacts/peak_impulse", "N s", PER_CONTACT, 1, false},
    [LASH_SERIES_CONTACT_IMPACTS] = {"contacts/impacts", "1", PER_CONTACT, 1, true},
    [LASH_SERIES_CONTACT_WORK] = {"contacts/contact_work", "J", PER_CONTACT, 1, false},
    [LASH_SERIES_KINETIC] = {"energy/kinetic", "J", PER_RUN, 1, false},
    [LASH_SERIES_POTENTIAL] = {"energy/potential", "J", PER_RUN, 1, false},
    [LASH_SERIES_EXTERNAL_WORK] = {"energy/external_work", "J", PER_RUN, 1, false},
    [LASH_SERIES_DAMPING_WORK] = {"energy/damping_work", "J", PER_RUN, 1, false},
    [LASH_SERIES_CONTACT_WORK_NORMAL] = {"energy/contact_work_normal", "J", PER_RUN, 1, false},
    [LASH_SERIES_CONTACT_WORK_TANGENTIAL] = {"energy/contact_work_tangential", "J", PER_RUN, 1,
                                             false},
    [LASH_SERIES_JOINT_WORK] = {"energy/joint_work", "J", PER_RUN, 1, false},
    [LASH_SERIES_STEPS] = {"counters/steps", "1", PER_RUN, 1, true},
    [LASH_SERIES_NEWTON] = {"counters/newton", "1", PER_RUN, 1, true},
    [LASH_SERIES_PROJECTION] = {"counters/projection", "1", PER_RUN, 1, true},
    [LASH_SERIES_INDEX_SET] = {"counters/index_set", "1", PER_RUN, 1, true},
    [LASH_SERIES_SOLVER] = {"counters/solver", "1", PER_RUN, 1, true},
    [LASH_SERIES_CONTACTS] = {"counters/contacts", "1", PER_RUN, 1, true},
    [LASH_SERIES_POSITION_ERROR] = {"violation/position", "m or rad", PER_RUN, 1, false},
    [LASH_SERIES_VELOCITY_ERROR] = {"violation/velocity", "m/s or rad/s", PER_RUN, 1, false},
    [LASH_SERIES_PENETRATION] = {"violation/penetration", "m", PER_RUN, 1, false},
    [LASH_SERIES_SHIFT] = {"violation/shift", "m", PER_RUN, 1, false},
    [LASH_SERIES_SHIFT_BODY] = {"violation/shift_body", "1", PER_RUN, 1, false},
    [LASH_SERIES_POINTS_END] = {"counters/contact_points", "1", PER_RUN, 1, true},
    [LASH_SERIES_ALGORITHMIC] = {"energy/algorithmic", "J", PER_SCHEME, 1, false},
    [LASH_SERIES_INPUT] = {"inputs/value", "as inputs/unit", PER_INPUT, 1, false},
};

static int owners(const LashRecordLayout* layout, SeriesPer per, bool algorithmic) {
    switch (per) {
        case PER_BODY:
            return layout->bodies;
        case PER_JOINT:
            return layout->joints;
        case PER_CONTACT:
            return layout->contacts;
        case PER_RUN:
            return 1;
        case PER_SCHEME:
            return algorithmic;
        case PER_INPUT:
            return layout->inputs;
    }
    return 0;
}

static int width_of(const LashRecordLayout* layout, int series) {
    int width = record_spec[series].width;
    return width == OF_LAYOUT ? layout->coordinates : width;
}

LashRecordLayout lash_record_layout(LashRecordSizes sizes) {
    LashRecordLayout layout = {.bodies = sizes.bodies,
                               .joints = sizes.joints,
                               .contacts = sizes.contacts,
                               .inputs = sizes.inputs,
                               .coordinates = LASH_RECORD_COORDINATES};
    if (sizes.coordinates > LASH_RECORD_COORDINATES)
        layout.coordinates = LASH_RECORD_FREE_COORDINATES;
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        layout.offset[s] = layout.total;
        layout.width[s] =
            owners(&layout, record_spec[s].per, sizes.algorithmic) * width_of(&layout, s);
        layout.total += layout.width[s];
    }
    return layout;
}

const char* lash_series_path(LashSeries series) {
    return record_spec[series].path;
}

const char* lash_series_unit(LashSeries series) {
    return record_spec[series].unit;
}

const char* lash_event_name(int kind) {
    static const char* const names[] = {"impact", "open", "slip", "stick", "plastic"};
    return kind >= 0 && kind < 5 ? names[kind] : "unknown";
}

void record_quiet_library(void) {
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

hid_t record_series_type(int series) {
    return record_spec[series].integer ? H5T_STD_I64LE : H5T_IEEE_F64LE;
}

int record_series_shape(const LashRecordLayout* layout, int s, hsize_t* shape) {
    int width = width_of(layout, s);
    if (record_spec[s].per == PER_RUN || record_spec[s].per == PER_SCHEME) return 1;
    shape[1] = (hsize_t)owners(layout, record_spec[s].per, true);
    shape[2] = (hsize_t)width;
    return width == 1 ? 2 : 3;
}

hid_t record_event_type(void) {
    hsize_t three = 3;
    hid_t vector = H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three);
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(LashRecordEvent));
    H5Tinsert(type, "kind", offsetof(LashRecordEvent, kind), H5T_NATIVE_INT32);
    H5Tinsert(type, "contact", offsetof(LashRecordEvent, contact), H5T_NATIVE_INT32);
    H5Tinsert(type, "joint", offsetof(LashRecordEvent, joint), H5T_NATIVE_INT32);
    H5Tinsert(type, "part", offsetof(LashRecordEvent, part), H5T_NATIVE_INT32);
    H5Tinsert(type, "coordinate", offsetof(LashRecordEvent, coordinate), H5T_NATIVE_INT32);
    H5Tinsert(type, "t", offsetof(LashRecordEvent, t), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "h", offsetof(LashRecordEvent, h), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "gap", offsetof(LashRecordEvent, gap), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "impulse", offsetof(LashRecordEvent, impulse), vector);
    H5Tinsert(type, "velocity_before", offsetof(LashRecordEvent, before), vector);
    H5Tinsert(type, "velocity_after", offsetof(LashRecordEvent, after), vector);
    H5Tclose(vector);
    return type;
}

hid_t record_point_type(void) {
    hsize_t three = 3;
    hid_t vector = H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three);
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(LashRecordPoint));
    H5Tinsert(type, "contact", offsetof(LashRecordPoint, contact), H5T_NATIVE_INT32);
    H5Tinsert(type, "joint", offsetof(LashRecordPoint, joint), H5T_NATIVE_INT32);
    H5Tinsert(type, "id", offsetof(LashRecordPoint, id), H5T_NATIVE_UINT64);
    H5Tinsert(type, "point", offsetof(LashRecordPoint, point), vector);
    H5Tinsert(type, "normal", offsetof(LashRecordPoint, normal), vector);
    H5Tinsert(type, "gap", offsetof(LashRecordPoint, gap), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "force", offsetof(LashRecordPoint, force), vector);
    H5Tclose(vector);
    return type;
}

hid_t record_transfer(void) {
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    if (list >= 0) H5Pset_buffer(list, RECORD_BUFFER, NULL, NULL);
    return list;
}
