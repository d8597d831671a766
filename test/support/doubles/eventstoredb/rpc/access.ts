import type { Metadata, UntypedServiceImplementation } from '@grpc/grpc-js'
import { accessDenied } from './messages.ts'

interface AnyCall {
  readonly metadata: Metadata
  readonly emit: (event: 'error', error: unknown) => boolean
}

/** Wraps calls: requests without the account are refused. A null account allows all requests. */
export const withAccess = (
  calls: UntypedServiceImplementation,
  account: string | null,
): UntypedServiceImplementation => {
  if (account === null) return calls
  const wanted = `Basic ${Buffer.from(account).toString('base64')}`
  const guarded = Object.entries(calls).map(([name, handle]) => {
    const serve = handle as (call: AnyCall, callback?: (error: unknown) => void) => void
    const guard = (call: AnyCall, callback?: (error: unknown) => void): void => {
      if (call.metadata.get('authorization')[0] === wanted) return serve(call, callback)
      if (callback === undefined) call.emit('error', accessDenied())
      else callback(accessDenied())
    }
    return [name, guard] as const
  })
  return Object.fromEntries(guarded)
}
