/** Those of the named variables that our environment has: a child process gets no more of it, for it holds the secrets of the service. */
export const inherited = (names: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  }))
