// Words behind the numbers of mindspore.op_range.
#ifndef STEPSCOPE_IMPORTERS_MINDSPORE_RAW_EVENT_NAMES_H_
#define STEPSCOPE_IMPORTERS_MINDSPORE_RAW_EVENT_NAMES_H_

#include <string_view>

namespace stepscope::mindspore_raw {

// Names by index, as MindSpore 2.10 writes them; the lists grow between releases, and an index
// beyond them is shown as a number.
inline constexpr std::string_view kStages[] = {
    "Default", "Python",  "Capture",          "RunGraph",     "RunGrad",
    "RunOp",   "Asnumpy", "CompileGradGraph", "WaitPipeline", "SyncStream"};
inline constexpr std::string_view kModules[] = {
    "Default", "GraphExecutorPy", "RuntimeFramework", "PynativeFramework",
    "Kernel",  "Python",          "Capture",          "Other"};
inline constexpr std::string_view kEvents[] = {"Default",
                                               "KernelInfer",
                                               "KernelResize",
                                               "KernelInferAndResize",
                                               "KernelLaunch",
                                               "KernelLaunckCallback",
                                               "KernelUpdate",
                                               "KernelPrepareData",
                                               "GraphLaunch",
                                               "InputProcess",
                                               "OutputProcess",
                                               "WaitTaskFinish",
                                               "PreLaunch",
                                               "PostLaunch",
                                               "SendOutput",
                                               "MemoryAlloc",
                                               "MemoryFree",
                                               "CopyData",
                                               "StreamSync",
                                               "ProcessMultiStream",
                                               "WaitKernelsInferFinish",
                                               "WaitKernelsResizeFinish",
                                               "WaitKernelsLaunchFinish",
                                               "KernelInferInner",
                                               "KernelInferDataSync",
                                               "KernelResizeInner",
                                               "KernelLaunchInner",
                                               "BackendGraphRunInner",
                                               "RunOp",
                                               "PyNativeFrontendTask",
                                               "PyNativeBackendTask",
                                               "PyNativeDeviceTask",
                                               "PyNativeLaunchTask",
                                               "PyNativeBpropTask",
                                               "Wait",
                                               "PyNativeGilAcquire",
                                               "PyNativeCast",
                                               "PyNativeInfer",
                                               "PyNativeOpCompile",
                                               "PyNativeGradExpander",
                                               "PyNativeGradUpdateSens",
                                               "PyNativeGradClearTopCell",
                                               "PyNativeGradClearAutoGradCell",
                                               "PyBoostInferOutput",
                                               "PyBoostInferByOpDef",
                                               "PyBoostCreateOutputTensor",
                                               "PyBoostDeviceTask",
                                               "PyBoostMallocInput",
                                               "PyBoostMallocOutput",
                                               "PyBoostLaunchAclnn",
                                               "PyBoostLaunchAtb",
                                               "PyNativeNewGraph",
                                               "PyNativeEndGraph",
                                               "PythonObserved",
                                               "CaptureRunGraph",
                                               "CaptureProcess",
                                               "CaptureCompile",
                                               "CaptureGuard",
                                               "AclnnHitCacheStage1",
                                               "AclnnHitCacheStage2",
                                               "AclnnMissCacheStage1",
                                               "AclnnMissCacheStage2",
                                               "AclnnUpdateAddress",
                                               "AclnnRunOp",
                                               "RunExpanderFunc",
                                               "EmitOp",
                                               "Execute",
                                               "ReleaseResource",
                                               "NativeFunc"};

}  // namespace stepscope::mindspore_raw

#endif  // STEPSCOPE_IMPORTERS_MINDSPORE_RAW_EVENT_NAMES_H_
