/** A queue of bytes for one writer and one reader. The writer waits while it is full, the reader while it is empty. */
export interface ByteQueue {
  /** Adds bytes. Resolves when there is room for more. */
  readonly push: (bytes: Buffer) => Promise<void>
  /** Marks the end of the bytes. */
  readonly finish: () => void
  /** Returns at most `size` bytes; null at the end. */
  readonly read: (size: number) => Promise<Buffer | null>
}

export const createByteQueue = (capacity: number): ByteQueue => {
  const pieces: Array<Buffer> = []
  let size = 0
  let finished = false
  let filled: () => void = () => undefined
  let drained: () => void = () => undefined

  return {
    push: async (bytes) => {
      if (bytes.length === 0) return
      pieces.push(bytes)
      size += bytes.length
      filled()
      if (size >= capacity) await new Promise<void>((resolve) => { drained = resolve })
    },
    finish: () => {
      finished = true
      filled()
    },
    read: async (wanted) => {
      if (size === 0 && !finished) await new Promise<void>((resolve) => { filled = resolve })
      const piece = pieces.shift()
      if (piece === undefined) return null
      const taken = piece.subarray(0, wanted)
      if (taken.length < piece.length) pieces.unshift(piece.subarray(taken.length))
      size -= taken.length
      if (size < capacity) drained()
      return taken
    },
  }
}
