/*
 * A Vulkan driver for tests: SwiftShader, whose device is lost at the first submit after the file FLAG appears.
 * It deletes the file, so that one file loses one device.
 * cc -shared -fPIC -DSWIFTSHADER='"libvk_swiftshader.so"' -DFLAG='"/tmp/flag"' -o lost-device.so lost-device.c -ldl
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VK_ERROR_DEVICE_LOST -4

typedef void (*Function)(void);
typedef Function (*GetFunction)(void *owner, const char *name);
typedef int32_t (*Submit)(void *queue, uint32_t count, const void *submits, uint64_t fence);

static void *driver;
static GetFunction device_function;
static Submit submit;

static void *symbol(const char *name) {
  if (driver == NULL) driver = dlopen(SWIFTSHADER, RTLD_NOW | RTLD_LOCAL);
  if (driver == NULL) abort();
  return dlsym(driver, name);
}

static int32_t submit_or_lose(void *queue, uint32_t count, const void *submits, uint64_t fence) {
  return unlink(FLAG) == 0 ? VK_ERROR_DEVICE_LOST : submit(queue, count, submits, fence);
}

static Function replaced(const char *name, Function original);

static Function get_device_function(void *device, const char *name) {
  return replaced(name, device_function(device, name));
}

static Function replaced(const char *name, Function original) {
  if (original == NULL) return original;
  if (strcmp(name, "vkQueueSubmit") == 0) {
    submit = (Submit)original;
    return (Function)submit_or_lose;
  }
  if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
    device_function = (GetFunction)original;
    return (Function)get_device_function;
  }
  return original;
}

Function vk_icdGetInstanceProcAddr(void *instance, const char *name) {
  return replaced(name, ((GetFunction)symbol("vk_icdGetInstanceProcAddr"))(instance, name));
}

Function vk_icdGetPhysicalDeviceProcAddr(void *instance, const char *name) {
  GetFunction get = (GetFunction)symbol("vk_icdGetPhysicalDeviceProcAddr");
  return get == NULL ? NULL : get(instance, name);
}

int32_t vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
  int32_t (*negotiate)(uint32_t *) = (int32_t (*)(uint32_t *))symbol("vk_icdNegotiateLoaderICDInterfaceVersion");
  return negotiate == NULL ? 0 : negotiate(version);
}
