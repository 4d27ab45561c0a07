/* ringtree.h as a C compiler sees it that knows C99 and nothing else: this file compiles with -pedantic -Werror, uses
 * every type and initializer of the header, and hands C++ what it found (test_header.cpp). */
#include <ringtree.h>

/* A struct of its own, as only C's rules for the header's initializer count here. */
rtConfig_t c99_config(void);
int c99_uses_the_header(void);

rtConfig_t c99_config(void) {
  rtConfig_t config = RT_CONFIG_INITIALIZER;
  return config;
}

static void told(void* context, rtResult_t result, int source, const char* error) {
  if (result == rtSuccess && source == 0 && error[0] == '\0') *(int*)context = 1;
}

/* What C allows and C++ does not: numbers that are none of the enum's. 0, or the number of the check that failed. */
int c99_uses_the_header(void) {
  rtUniqueId id;
  rtComm_t comm = NULL;
  rtRequest_t request = NULL;
  rtRedOp_t op = rtSum;
  rtMessageDone_t tell = told;
  int version = 0, done = 0, sent = 0, received = 0;
  float data[2] = {1, 2};
  if (rtGetVersion(&version) != rtSuccess || version != RT_VERSION_CODE) return 1;
  if (rtGetUniqueId(&id) != rtSuccess) return 2;
  if (rtCommInitRank(&comm, 1, id, 0) != rtSuccess || comm == NULL) return 3;
  if (rtAllReduce(data, data, 2, rtFloat32, rtSum, comm) != rtSuccess || data[1] != 2) return 4;
  if (rtAllReduce(data, data, 2, (rtDataType_t)99, rtSum, comm) != rtInvalidArgument) return 5;
  if (rtAllReduce(data, data, 2, rtFloat32, (rtRedOp_t)-1, comm) != rtInvalidArgument) return 6;
  if (rtAllReduce(data, data, 2, rtFloat32, (rtRedOp_t)5, comm) != rtInvalidArgument) return 7;
  if (rtRedOpCreatePreMulSum(&op, 0.5, comm) != rtSuccess) return 8;
  if (rtAllReduce(data, data, 2, rtFloat32, op, comm) != rtSuccess || data[0] != 0.5f) return 9;
  if (rtGroupStart() != rtSuccess || rtGroupEndAsync(&request) != rtSuccess) return 10;
  if (rtTest(&request, &done) != rtSuccess || done != 1 || request != NULL) return 11;
  if (rtGetErrorString((rtResult_t)99)[0] == '\0') return 12;
  if (rtCommSetTimeout(comm, 30) != rtSuccess) return 13;
  if (rtPostSend(&data[0], sizeof(float), 0, 1, 0, tell, &sent, comm) != rtSuccess) return 14;
  if (rtPostRecv(&data[1], sizeof(float), RT_ANY_SOURCE, 1, 0, tell, &received, comm) != rtSuccess) return 15;
  if (rtCommDestroy(comm) != rtSuccess) return 16;
  return sent == 1 && received == 1 && data[1] == 0.5f ? 0 : 17;
}
