// The meaning of a slice's colour: one code for each row of the palette in the web UI.
#ifndef STEPSCOPE_SERVER_SLICE_COLOUR_H_
#define STEPSCOPE_SERVER_SLICE_COLOUR_H_

#include <cstdint>
#include <string_view>

namespace stepscope {

enum class SliceColour : uint8_t {
  kOther = 0,
  kComputing = 1,
  kAiCpu = 2,
  kCommunication = 3,
  kMemory = 4,
  kData = 5,
  kHost = 6,
  kPython = 7,
  kRuntime = 8,
  kStep = 9,
  kSync = 10,
  kFree = 11,
  kCommunicationMerged = 12,  // whether something is computed meanwhile or not
  kScope = 13,
};

// By the source's category word and the slice's name.
SliceColour slice_colour(std::string_view category, std::string_view name);

// The colour in the low four bits, above them one of eight shades that depends on the name alone:
// the same name looks the same in every lane and run.
uint8_t shaded(SliceColour colour, std::string_view name);

// A slice whose category and name say nothing has the colour of its track's kind.
uint8_t on_track(uint8_t colour, std::string_view track_kind);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_SLICE_COLOUR_H_
