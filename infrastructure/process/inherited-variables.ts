/**
 * Returns the named variables of our environment, for a child process. A child gets no other variables, because our
 * environment contains the secrets of the service.
 */
export const inheritedVariables = (names: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  }))
