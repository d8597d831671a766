/** Something that runs, or holds something, until it is stopped. */
export interface Part {
  readonly stop: () => Promise<void>
}

/**
 * Puts parts together to a larger one. `open` hands each part to `opened` once it stands; the whole is stopped in
 * reverse, each part whatever came of the others. When `open` throws, what it had opened is stopped first.
 */
export const assemble = async <A extends object>(
  open: (opened: <P extends Part>(part: P) => P) => Promise<A>,
): Promise<A & Part> => {
  await using starting = new AsyncDisposableStack()
  const whole = await open((part) => {
    starting.defer(part.stop)
    return part
  })
  const running = starting.move()
  return { ...whole, stop: () => running.disposeAsync() }
}
