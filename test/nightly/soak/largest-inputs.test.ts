import test from 'ava'
import { ROUTES } from '../../../interfaces/http/route-table.ts'
import { startHttp } from '../../api/http/http-service.ts'
import { checkLargestInputs } from '../../support/requests/check-inputs.ts'

test('no input of any route blocks the event loop much longer than parsing and printing its bytes', async (t) => {
  t.timeout(600_000)
  const http = await startHttp(t)
  await checkLargestInputs(t, http.url, 'admin', ROUTES)
})
