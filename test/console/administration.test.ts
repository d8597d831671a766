import { CHROMIUM } from '../support/browser.ts'
import { checkAccess, openConsole, sharedConsole } from '../support/console.ts'
import { testWith } from '../support/skip-unless.ts'

const { start } = sharedConsole()
const browserTest = testWith(CHROMIUM)

browserTest('B5, B46: an administrator makes, changes and deletes users, ends sessions of others and revokes their tokens', async (t) => {
  const { service, browser } = await start()
  const { token } = await service.admin()
  const page = await openConsole(t, browser, { url: service.url(), token, at: '#/administration' })
  await page.getByText('✓ The service can serve').waitFor()
  await checkAccess(t, page, 'administration, overview')

  await page.getByRole('link', { name: 'Users', exact: true }).click()
  await page.getByRole('button', { name: 'New user' }).click()
  await page.getByLabel('Username').fill('linus')
  await page.getByLabel('Password').fill('a long password')
  await checkAccess(t, page, 'administration, new user')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('region', { name: 'Users' }).getByText('linus').waitFor()
  await checkAccess(t, page, 'administration, users')
  await page.getByRole('button', { name: 'Change: root' }).click()
  await page.getByLabel('Administrator').uncheck()
  await page.getByText('You take administration away from yourself.').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').getByText('The last administrator cannot be demoted').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()

  const other = await service.user('dennis')
  const live = await other.createLive()
  await other.api.call('createToken', { body: { name: 'pipeline' } })
  await page.getByRole('link', { name: 'All sessions' }).click()
  await page.getByLabel('State').selectOption('pending')
  await page.getByRole('region', { name: 'All sessions' }).getByText('dennis').waitFor()
  await checkAccess(t, page, 'administration, sessions')
  await page.getByRole('button', { name: `Finish: ${live.id}` }).click()
  await page.getByText('No session is in this state.').waitFor()
  await page.goto(`${service.url()}/#/administration/sessions/${live.id}`)
  await page.getByText(/events intact/).waitFor()
  await page.getByText('finished: finish_route').waitFor()
  await checkAccess(t, page, 'administration, timeline')

  await page.getByRole('link', { name: 'All API tokens' }).click()
  await page.getByRole('button', { name: 'Revoke: pipeline' }).waitFor()
  await checkAccess(t, page, 'administration, tokens')
  await page.getByRole('button', { name: 'Revoke: pipeline' }).click()
  await page.getByRole('button', { name: 'Revoke: pipeline' }).waitFor({ state: 'detached' })
  t.is((await other.api.call('listTokens')).data.length, 0)

  await page.getByRole('link', { name: 'Users', exact: true }).click()
  await page.getByRole('button', { name: 'Delete: dennis' }).click()
  await page.getByRole('dialog').getByLabel('Username').fill('dennis')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('The user is deleted.').waitFor()
})

browserTest('B5: whoever is no administrator sees none of it, and is refused where they ask all the same', async (t) => {
  const { service, browser } = await start()
  const { token } = await service.user('ken')
  const page = await openConsole(t, browser, { url: service.url(), token, at: '#/administration/users' })
  await page.getByRole('alert').getByText('Not enough permissions').waitFor()
  t.is(await page.getByRole('link', { name: 'Administration' }).count(), 0)
})
