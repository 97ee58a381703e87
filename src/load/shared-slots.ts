/** Slots that several queues share, in addition to the limit of each. */
export interface SharedSlots {
  /** Takes a slot; false if none is free. */
  take(): boolean
  /** Releases a slot and offers it to the queues, round-robin. */
  release(): void
  /** Adds a queue. `startNext` starts one of its tasks, or returns false if it has none to start. */
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
