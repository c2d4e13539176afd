// The number of ports is fixed when the program is compiled: -DPORTS=16, or 8. A data plane has no loops, so what is
// done for every port is written once, as a macro of its number, and unrolled here.
#ifndef PORTS
#define PORTS 8
#endif

#define FOR_EIGHT(X, o) X(o##0) X(o##1) X(o##2) X(o##3) X(o##4) X(o##5) X(o##6) X(o##7)
#if PORTS == 16
#define FOR_EACH_PORT(X) FOR_EIGHT(X,) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#else
#define FOR_EACH_PORT(X) FOR_EIGHT(X,)
#endif
