#include <algorithm>
#include <filesystem>

#include "control/control_client.h"
#include "control/watched_folder.h"

namespace stepscope {
namespace {

std::vector<std::string> parts(std::string_view text) {
  std::vector<std::string> found;
  while (true) {
    const size_t comma = text.find(',');
    found.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return found;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<WatchedPlaces> find_watched_places(const std::string& target, const std::string& authority) {
  WatchedPlaces places;
  std::error_code error;
  if (std::filesystem::is_directory(target, error) || target.ends_with(".json")) {
    places.push_back(std::make_unique<WatchedFolder>(target));
  } else if (std::ranges::all_of(parts(target), names_control_socket)) {
    for (const std::string& address : parts(target)) {
      auto socket = control_socket(address, authority);
      if (!socket) return std::move(socket.error());
      places.push_back(std::move(*socket));
    }
  } else {
    auto folder = registered_folder(target);
    if (!folder) return std::move(folder.error());
    places.push_back(std::make_unique<WatchedFolder>(*folder));
  }
  return places;
}

}  // namespace stepscope
