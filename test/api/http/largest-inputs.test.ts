import test from 'ava'
import { ROUTES } from '../../../interfaces/http/route-table.ts'
import { checkLargestInputs } from '../../support/requests/check-inputs.ts'
import { startHttp } from './http-service.ts'

/** A public route, and the route with the largest body. */
const CHECKED = ['GET /health/live', 'POST /lives']

test('the largest inputs do not block the event loop much longer than parsing and printing their bytes', async (t) => {
  const http = await startHttp(t)
  const routes = ROUTES.filter(({ method, path }) => CHECKED.includes(`${method} ${path}`))
  t.is(routes.length, CHECKED.length)
  await checkLargestInputs(t, http.url, 'admin', routes)
})
