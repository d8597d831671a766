/** Returns the members of `from` with these names, in this order. A member that is missing stays missing. */
export const pick = <A extends object, K extends keyof A>(names: ReadonlyArray<K>, from: A): Pick<A, K> =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]]))) as Pick<A, K>
