/** A part of the service that runs, or holds a resource, until `stop`. */
export interface Part {
  readonly stop: () => Promise<void>
}

/**
 * Combines parts into a larger part. `open` passes each started part to `opened`. `stop` stops them in reverse order,
 * even if one of them fails. When `open` throws, the parts that are already started are stopped first.
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
