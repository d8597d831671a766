import cors from '@koa/cors'
import type { Context, Middleware } from 'koa'
import helmet from 'koa-helmet'
import { API_POLICY } from './connections/raw-answer.ts'

/** Of every answer, unless its route says otherwise. */
export const baseHeaders =
  (version: string): Middleware =>
  async (ctx, next) => {
    ctx.set({ 'Content-Security-Policy': API_POLICY, 'Cache-Control': 'no-store', 'X-Service-Version': version })
    await next()
  }

/**
 * TLS ends in front of the service, so HSTS is for whoever ends it. Browsers key agents by origin themselves; asked for
 * it, they warn of each caption page in a sandboxed frame, which they cannot.
 */
export const protectiveHeaders = helmet({
  contentSecurityPolicy: false,
  originAgentCluster: false,
  strictTransportSecurity: false,
  referrerPolicy: { policy: 'no-referrer' },
  xFrameOptions: { action: 'deny' },
})

/** CORS: `['*']` or the origins that may call. */
export const crossOrigin = (origins: ReadonlyArray<string>): Middleware =>
  cors({
    origin: origins.includes('*') ? '*' : (ctx: Context) => (origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    exposeHeaders: ['X-Request-ID', 'Retry-After', 'Link'],
    maxAge: 600,
  })
