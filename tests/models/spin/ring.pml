/* NUM_RANKS ranks in a ring of one-way links (core/transport/link.h), each in rounds without end: it sends a message of
 * its own, passes on what arrives, and keeps what has come all the way round. Or, -DCHAIN, without the link that closes
 * the ring: the first rank sends, the others pass on. Ranks sleep when they cannot move; any one
 * may die at any moment. Checked: nobody waits for ever, but everybody moves on or, after a death, stops; no message is
 * lost, doubled or overwritten.
 *
 * Numbers of messages count modulo 2 C. -DCOARSE makes reading, writing and publishing one step, for more ranks. Faults: those of waiting.inc, and -DNO_RING_AFTER_RELEASE,
 * -DNO_RING_AFTER_PUBLISH, -DRELEASE_BEFORE_READING, -DFLAG_BEFORE_PAYLOAD, -DNO_CREDITS.
 */
#ifndef NUM_RANKS
#define NUM_RANKS 2
#endif
#ifndef NUM_VICTIMS
#ifdef CHAIN
#define NUM_VICTIMS NUM_RANKS
#else
#define NUM_VICTIMS 1 /* all ranks are alike */
#endif
#endif
#include "waiting.inc"

#ifndef C
#define C 2 /* slots of a link */
#endif
#define WRAP (2 * C)

/* Shared memory, by sender. */
#define SLOT(rank, m) ((rank) * C + (m) % C)
byte slot_number[NUM_RANKS * C]; /* the message in a slot: its number and who made it */
byte slot_origin[NUM_RANKS * C];
byte flag[NUM_RANKS * C]; /* message + 1 modulo WRAP; WRAP for none yet */
byte released[NUM_RANKS]; /* by the sender whose messages they are */

#define PREVIOUS ((me + NUM_RANKS - 1) % NUM_RANKS)
#define NEXT ((me + 1) % NUM_RANKS)
#ifdef CHAIN
#define STEPS 1 /* of a round */
#define RECEIVES (me > 0)
#define SENDS (me < NUM_RANKS - 1)
#define ORIGIN 0 /* of the message that is due */
#else
#define STEPS NUM_RANKS
#define RECEIVES (step > 0)
#define SENDS (step < NUM_RANKS - 1)
#define ORIGIN ((me + NUM_RANKS - step) % NUM_RANKS)
#endif
#define ARRIVED (flag[SLOT(PREVIOUS, received)] == (received + 1) % WRAP)
#define FULL ((sent + WRAP - oldest) % WRAP == C)

inline read_message() {
  d_step {
    assert(slot_number[SLOT(PREVIOUS, received)] == received);
    origin = slot_origin[SLOT(PREVIOUS, received)];
    assert(origin == ORIGIN)
  }
}

inline write_message() {
  d_step {
    slot_number[SLOT(me, sent)] = sent;
    slot_origin[SLOT(me, sent)] = origin
  }
}

inline publish() {
#ifdef FLAG_BEFORE_PAYLOAD
  flag[SLOT(me, sent)] = (sent + 1) % WRAP;
  write_message();
#else
  write_message();
  flag[SLOT(me, sent)] = (sent + 1) % WRAP;
#endif
  sent = (sent + 1) % WRAP
}

inline ring_next() {
#ifdef NO_RING_AFTER_PUBLISH
  skip
#else
  ring(NEXT)
#endif
}

inline store_released() {
  d_step {
    received = (received + 1) % WRAP;
    released[PREVIOUS] = received
  }
}

inline ring_previous() {
#ifdef NO_RING_AFTER_RELEASE
  skip
#else
  ring(PREVIOUS)
#endif
}

proctype rank(byte me) {
  byte step, sent, oldest, received;
  byte origin;
  bool announced;
#ifdef ROUNDS
  byte round;
#endif
  {
    announced = false;
poll:
    TOGETHER {
      if
      :: RECEIVES && !ARRIVED -> wait(); goto poll
      :: else
      fi
    };
    TOGETHER {
      if
      :: SENDS && FULL -> oldest = released[me]
      :: else
      fi;
      if
#ifndef NO_CREDITS
      :: SENDS && FULL -> wait(); goto poll
#endif
      :: else
      fi
    };
    TOGETHER {
      moved();
      if
      :: RECEIVES ->
#ifdef RELEASE_BEFORE_READING
        released[PREVIOUS] = (received + 1) % WRAP;
#endif
        read_message()
      :: else -> origin = me
      fi;
      if
      :: SENDS -> publish()
      :: else
      fi
    };
    if
    :: SENDS -> ring_next()
    :: else
    fi;
    if
    :: RECEIVES -> store_released(); ring_previous()
    :: else
    fi;
    TOGETHER {
      origin = 0;
      step = (step + 1) % STEPS;
#ifdef ROUNDS
      if
      :: step == 0 ->
        round++;
        if
        :: round == ROUNDS -> goto stopped
        :: else
        fi
      :: else
      fi
#endif
    };
    goto poll
  } unless { crashed == me }
stopped:
  skip
}

init {
  byte i;
  atomic {
    do
    :: i < NUM_RANKS * C -> flag[i] = WRAP; i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < NUM_RANKS -> run rank(i); run notice(i); i++
    :: else -> break
    od;
    run fate()
  }
}
