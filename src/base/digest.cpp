#include "deltamatch/digest.hpp"

#include "deltamatch/match.hpp"

namespace deltamatch {

std::string to_string(const Hash128& hash) { return to_string(MatchId{hash.high, hash.low}); }

}  // namespace deltamatch
