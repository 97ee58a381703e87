/** Slots that several queues share, beside the limit that each has of its own. */
export interface SharedSlots {
  /** Takes a slot; false where none is free. */
  take(): boolean
  /** Gives a slot back, for which the queues are asked in rotation. */
  release(): void
  /** Adds a queue. `startNext` starts one of its tasks, or returns false where it can start none. */
  join(startNext: () => boolean): void
}

export function createSharedSlots(slots: number): SharedSlots {
  const queues: (() => boolean)[] = []
  let free = slots

  function offerFreeSlots(): void {
    for (let unused = 0; free > 0 && unused < queues.length; ) {
      const startNext = queues.shift() as () => boolean
      queues.push(startNext)
      unused = startNext() ? 0 : unused + 1
    }
  }

  return {
    take() {
      if (free === 0) return false
      free--
      return true
    },
    release() {
      free++
      offerFreeSlots()
    },
    join: (startNext) => void queues.push(startNext),
  }
}
