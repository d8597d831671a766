import * as E from 'fp-ts/lib/Either.js'
import type { Context } from 'koa'
import { type DailyBudget, NO_BUDGET, unitsOf } from '../../application/budget.ts'
import type { Caller } from '../../application/caller.ts'
import { createFairSlots, type FairSlots } from '../../application/concurrency.ts'
import { type AccessCalls, admit, admitOperator, ON_BEHALF_OF } from './access.ts'
import { readBody } from './body.ts'
import type { RequestFacts } from './clients/request-facts.ts'
import { NO_LIMITS, type RequestLimits } from './clients/request-limits.ts'
import { memberNames } from './codecs/shapes.ts'
import { encodedList, rowsIn } from './codecs/encoded-list.ts'
import type { HttpRefusal } from './errors.ts'
import { type Answer, type Route, usesBudget } from './route.ts'
import { consoleRoutes } from './routes/console.ts'
import { embedFiles } from './routes/embed.ts'
import { operationRoutes } from './routes/operations.ts'

interface RunOptions extends AccessCalls {
  /** Rate limits. Unlimited by default. */
  readonly limits?: RequestLimits
  /** What users may write within a day. Unlimited by default. */
  readonly budget?: DailyBudget
  /** True on the socket in the data directory, where every caller is the operator. */
  readonly isControl?: boolean
}

/**
 * Public routes whose requests do not count towards the usual rate limit of an address:
 *
 * - Health checks and metrics have a limit of their own. Otherwise another client at the same address could use up the
 *   limit, and the service would look dead.
 * - The console and the caption page have a higher limit. Each visit loads several files, and many visitors may use one
 *   address.
 */
const PUBLIC_BUCKETS: ReadonlyMap<Route, string> = new Map<Route, string>([
  ...operationRoutes.map((route) => [route, 'operations'] as const),
  ...[...consoleRoutes, ...embedFiles].map((route) => [route, 'pages'] as const),
])

/**
 * Lists that the service reads and encodes at the same time. Hundreds of lists at once would each hold their rows in
 * memory, and their slices would leave the event loop no time.
 */
const LISTS_AT_ONCE = 4
const MAX_WAITING_LISTS = 200

/** The turns in which lists are read. */
export const createListSlots = (): FairSlots => createFairSlots(LISTS_AT_ONCE, MAX_WAITING_LISTS)

/** The answer of a route, with the JSON of a long list. */
export interface EncodedAnswer extends Answer {
  readonly json: string | null
}

const isList = ({ query }: Route): boolean => query !== undefined && memberNames(query).includes('limit')

const tooMany = E.left({ _tag: 'TooManyRequests', seconds: 1 } as const)

/** Counts a request against the limits of its user. */
interface Spending {
  /** Seconds until the user may write again. 0: now. */
  readonly waitSeconds: number
  readonly charge: (cost: Parameters<typeof unitsOf>[0]) => void
}

/** Begins to count a request. Only some writes use up the daily budget. The operator has none. */
const beginSpending = (
  route: Pick<Route, 'method' | 'access' | 'isBudgeted'>,
  caller: Caller | null,
  { limits = NO_LIMITS, budget = NO_BUDGET }: Pick<RunOptions, 'limits' | 'budget'>,
): Spending => {
  const writer = caller !== null && caller.credential !== 'operator' && usesBudget(route) ? caller.userId : null
  const waitSeconds = writer === null ? 0 : budget.waitSeconds(writer)
  if (writer !== null && waitSeconds === 0) budget.charge(writer, 1)
  return {
    waitSeconds,
    charge: (cost) => {
      limits.chargeUser(caller, cost)
      if (writer !== null) budget.charge(writer, unitsOf(cost))
    },
  }
}

/** Checks access before it reads the body, then runs the route. Lists of one client are read one after another. */
export const runRoute = async <D>(
  ctx: Context,
  route: Route<D>,
  options: RunOptions & D,
  facts: RequestFacts,
  listSlots: FairSlots,
): Promise<E.Either<HttpRefusal, EncodedAnswer>> => {
  const credentials = { authorization: ctx.headers.authorization, apiKey: ctx.headers['x-api-key']?.toString() }
  const publicBucket = PUBLIC_BUCKETS.get(route) ?? 'address'
  const { limits = NO_LIMITS } = options
  const limiting = { address: facts.address, limits, publicBucket }
  const caller: E.Either<HttpRefusal, Caller | null> =
    options.isControl === true
      ? await admitOperator(route, ctx.headers[ON_BEHALF_OF]?.toString(), options)
      : await admit(route.access, credentials, options, limiting)
  if (E.isLeft(caller)) return caller
  const { waitSeconds: seconds, charge } = beginSpending(route, caller.right, options)
  if (seconds > 0) return E.left({ _tag: 'DailyBudgetUsed', seconds })
  const body = route.body === undefined ? E.right(undefined) : await readBody(ctx, route.body)
  if (Buffer.isBuffer(ctx.request.body)) charge({ bytes: ctx.request.body.length })
  if (E.isLeft(body)) return body
  const params: Readonly<Record<string, string>> = ctx['params']
  const raw = { params, query: ctx.querystring, headers: ctx.headers, body: body.right }
  const run = async (): Promise<E.Either<HttpRefusal, EncodedAnswer>> => {
    const answer = await route.run(raw, caller.right, facts, options)
    if (E.isLeft(answer)) return answer
    charge({ rows: rowsIn(answer.right.body) })
    return E.right({ ...answer.right, json: await encodedList(answer.right.body) })
  }
  if (!isList(route)) return await run()
  const client = caller.right === null ? `address ${facts.address}` : `user ${caller.right.userId}`
  const answer = await listSlots(client, async () => {
    // The client may have left, or the lists before this one have used up its limit.
    const verdict = ctx.req.socket.destroyed ? tooMany : limits.checkUser(caller.right)
    return E.isLeft(verdict) ? verdict : await run()
  })
  return answer ?? tooMany
}
