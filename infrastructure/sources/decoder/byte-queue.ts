/** Bytes between one writer, who waits while it is full, and one reader, who waits while it is empty. */
export interface ByteQueue {
  /** Resolves when there is room again. */
  readonly push: (bytes: Buffer) => Promise<void>
  /** No more bytes will come. */
  readonly finish: () => void
  /** At most `size` bytes, null at the end. */
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
