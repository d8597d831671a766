import type { Context } from 'koa'

/** A path of the route table that matches the path of a request, as the router keeps it. */
interface MatchedPath {
  readonly methods: ReadonlyArray<string>
  readonly paramNames: ReadonlyArray<unknown>
}

const matchedPaths = (ctx: Context): ReadonlyArray<MatchedPath> => ctx['matched'] ?? []

const isLiteral = ({ paramNames }: MatchedPath): boolean => paramNames.length === 0

/** True when a path without parameters matches too. It hides a path with a parameter, also for methods it lacks. */
export const isHidden = (ctx: Context): boolean => matchedPaths(ctx).some(isLiteral)

/** Returns the methods of the path of a request. Empty for an unknown path. */
export const allowedMethods = (ctx: Context): ReadonlyArray<string> => {
  const visible = matchedPaths(ctx).filter((path) => isLiteral(path) || !isHidden(ctx))
  return Array.from(new Set(visible.flatMap(({ methods }) => methods))).sort()
}
