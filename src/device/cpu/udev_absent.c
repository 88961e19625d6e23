// The five udev calls in Debian's libhwloc.a, answered with "there is no udev". hwloc uses them only to name
// the vendors of disks, and goes on without. libudev has no static archive, and a binary that needs the
// shared one would not start in a minimal container.
#include <stddef.h>

struct udev;
struct udev_device;

struct udev* udev_new(void) {
  return NULL;
}

struct udev* udev_unref(struct udev* udev) {
  (void)udev;
  return NULL;
}

struct udev_device* udev_device_new_from_subsystem_sysname(struct udev* udev, const char* subsystem, const char* name) {
  (void)udev, (void)subsystem, (void)name;
  return NULL;
}

struct udev_device* udev_device_unref(struct udev_device* device) {
  (void)device;
  return NULL;
}

const char* udev_device_get_property_value(struct udev_device* device, const char* key) {
  (void)device, (void)key;
  return NULL;
}
