import type { Page, WebSocketRoute } from 'playwright-core'
import type { Json } from '../service/client.ts'

/** The page of a live over a socket that the test holds. */
export const openEmbedPage = async (page: Page, url: string): Promise<WebSocketRoute> => {
  const socket = Promise.withResolvers<WebSocketRoute>()
  await page.routeWebSocket(/\/ws\/live\//, (route) => socket.resolve(route))
  await page.goto(url)
  return socket.promise
}

/** A frame with text, final unless told otherwise. */
export const captionFrame = (segment: number, text: string, members: Json = {}): string =>
  JSON.stringify({ type: 'transcription', start: segment, end: segment + 1, text, language: 'en', segment, final: true, ...members })
