import cors from '@koa/cors'
import type { Context, Middleware } from 'koa'
import helmet from 'koa-helmet'
import { API_POLICY } from './connections/raw-response.ts'

/** Sets the headers of every response. A route may override them. */
export const baseHeaders =
  (version: string): Middleware =>
  async (ctx, next) => {
    ctx.set({ 'Content-Security-Policy': API_POLICY, 'Cache-Control': 'no-store', 'X-Service-Version': version })
    await next()
  }

/**
 * The TLS proxy in front of the service sets HSTS. Origin-Agent-Cluster is off, because browsers would log a warning
 * for every caption page in a sandboxed frame.
 */
export const protectiveHeaders = helmet({
  contentSecurityPolicy: false,
  originAgentCluster: false,
  strictTransportSecurity: false,
  referrerPolicy: { policy: 'no-referrer' },
  xFrameOptions: { action: 'deny' },
})

/** Sets the CORS headers for these origins. `['*']` allows every origin. */
export const corsHeaders = (origins: ReadonlyArray<string>): Middleware =>
  cors({
    origin: origins.includes('*')
      ? '*'
      : (ctx: Context) => (origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    exposeHeaders: ['X-Request-ID', 'Retry-After', 'Link'],
    maxAge: 600,
  })
