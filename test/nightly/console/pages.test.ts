import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CHROMIUM } from '../../support/browser/browser.ts'
import { checkAccess, openConsole, sharedConsole } from '../../support/browser/console.ts'
import { passwordOf } from '../../support/service/service.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

const { start } = sharedConsole()
const browserTest = testWith(CHROMIUM)

browserTest('a session can be watched, shared, inspected, downloaded and deleted [B5 B46]', async (t) => {
  const { service, browser } = await start()
  const client = await service.user('ada', { permissions: ['user_retention'] })
  const openAt = (hash: string) => openConsole(t, browser, { url: service.url(), token: client.token, at: hash })
  const page = await openAt('#/sessions')
  await page.getByText('No sessions yet.').waitFor()
  await checkAccess(t, page, 'sessions, empty')

  const live = await client.createLive({ translations: ['es'], live_retention: true })
  const sender = await client.socket(live, 'sender')
  await page.goto(`${service.url()}/#/sessions/${live.id}`)
  await page.getByText('Your program sends its audio to this address').waitFor()
  await checkAccess(t, page, 'session, pending')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  const [sentence] = await sampleSentences()
  sender.sendAudio(sentence?.samples ?? silence(0))
  sender.sendAudio(silence(1.5))
  const log = page.getByRole('log')
  await log.getByText('meeting').waitFor()
  await log.locator('p[lang=es]').first().waitFor()
  await page.getByText('● active').waitFor()
  await checkAccess(t, page, 'session, active')

  await page.getByRole('tab', { name: 'Share' }).click()
  await page
    .frameLocator('iframe')
    .getByText('meeting')
    .or(page.frameLocator('iframe').locator('#captions'))
    .first()
    .waitFor()
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  await page.getByText('This address works only on this computer.').waitFor()
  await checkAccess(t, page, 'session, share')
  // The default of max_lines is 2: the frame shows four lines of 28 px with the line height 1.4, and 16 px of padding.
  await page.getByText('height="173"').waitFor()
  const link = await page.getByRole('region', { name: 'Link for the audience' }).innerText()
  t.true(
    link.startsWith(`${service.url()}/embed/live/${live.id}?controls=1&`) &&
      link.endsWith(`#token=${live.listener_token}`),
  )

  await page.getByRole('button', { name: 'Finish' }).click()
  await page.getByText('✓ finished').waitFor()
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.getByText(/✓ (\d+) of \1 events intact/).waitFor()
  await page
    .getByRole('region', { name: 'State of the session after this event' })
    .getByText('finished ← changed')
    .waitFor()
  await checkAccess(t, page, 'session, timeline')
  await page.keyboard.press('[')
  await page
    .getByRole('region', { name: 'State of the session after this event' })
    .getByText('active ← changed')
    .waitFor()
  await page.getByRole('tab', { name: 'Details' }).click()
  t.is(await page.getByText(live.sender_token).count(), 0)
  await page.getByRole('button', { name: 'Show tokens' }).click()
  await page.getByText(live.sender_token).waitFor()
  await checkAccess(t, page, 'session, details')

  const again = await openAt(`#/sessions/${live.id}`)
  await again.getByRole('log').locator('p[lang=es]').first().waitFor()
  await again.locator('summary', { hasText: 'Download' }).click()
  await again.getByLabel('Format').selectOption('srt')
  const [download] = await Promise.all([again.waitForEvent('download'),
    again.getByRole('button', { name: 'Download' }).click()])
  t.is(download.suggestedFilename(), `session-${live.id}.srt`)

  await page.goto(`${service.url()}/#/sessions`)
  await page.getByRole('region', { name: 'Sessions' }).getByText('en → es').waitFor()
  await checkAccess(t, page, 'sessions')
  await page.getByLabel('Status').selectOption('error')
  await page.getByText('No session has this status.').waitFor()
  await page.getByLabel('Go to session').fill('4711')
  await page.keyboard.press('Enter')
  await page.getByText('You have no session 4711').waitFor()

  await again.getByRole('button', { name: 'Delete …' }).click()
  await checkAccess(t, again, 'session, delete')
  t.true(await again.getByRole('button', { name: 'Delete', exact: true }).isDisabled())
  await again.getByLabel('Session number').fill(String(live.id))
  await again.getByRole('button', { name: 'Delete', exact: true }).click()
  await again.getByText('No sessions yet.').waitFor()
  t.is((await client.get(`/lives/${live.id}`)).status, 404)
})

browserTest('a user manages profiles, API tokens and the password [B5 B46]', async (t) => {
  const { service, browser } = await start()
  const { token, api } = await service.user('grace')
  const page = await openConsole(t, browser, { url: service.url(), token, at: '#/profiles' })
  await page.getByRole('button', { name: 'New profile' }).click()
  await page.getByLabel('Name').fill('lecture')
  await page.getByLabel('Minimum audio (s)').fill('12')
  await page.getByText('The minimum must not be greater than the maximum.').waitFor()
  await page.getByLabel('Minimum audio (s)').fill('2')
  await checkAccess(t, page, 'profile, new')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('region', { name: 'Profiles' }).getByText('lecture').waitFor()
  await checkAccess(t, page, 'profiles')
  t.like((await api.call('listProfiles')).data.find(({ name }) => name === 'lecture'),
    { min_buffer: 2, max_buffer: 10 })

  await page.getByRole('link', { name: 'API tokens' }).click()
  await page.getByText('No API tokens yet.').waitFor()
  await page.getByRole('button', { name: 'New API token' }).click()
  await page.getByLabel('Name').fill('ci')
  await checkAccess(t, page, 'token, new')
  await page.getByRole('button', { name: 'Create' }).click()
  const secret = await page.getByRole('region', { name: 'Your new API token' }).innerText()
  await checkAccess(t, page, 'token, secret')
  await page.getByRole('button', { name: 'I have stored the token' }).click()
  await page.getByText('✓ active').waitFor()
  await checkAccess(t, page, 'tokens')
  t.is((await fetch(`${service.url()}/lives`, { headers: { 'X-API-Key': secret } })).status, 200)
  await page.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('! deactivated').waitFor()
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No API tokens yet.').waitFor()
  t.is((await fetch(`${service.url()}/lives`, { headers: { 'X-API-Key': secret } })).status, 401)

  await page.getByRole('link', { name: 'Account' }).click()
  await page.getByLabel('Current password').fill('not this one')
  await page.getByLabel('New password', { exact: true }).fill('a new password')
  await page.getByLabel('New password again').fill('a new password')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('The current password is wrong.').waitFor()
  await checkAccess(t, page, 'account')
  await page.getByLabel('Current password').fill(passwordOf('grace'))
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed.').waitFor()

  await page.getByRole('link', { name: 'About' }).click()
  await page.getByText(/^Version \d/).waitFor()
  await checkAccess(t, page, 'about')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await checkAccess(t, page, 'keys')
  await page.keyboard.press('Escape')
  await page.keyboard.press('g')
  await page.keyboard.press('l')
  await page.getByRole('heading', { name: 'Sessions' }).waitFor()
  t.is(await page.evaluate('document.activeElement.tagName'), 'H1')
})

browserTest('an ended login opens a dialog, and the page continues after the next login [S49]', async (t) => {
  const { service, browser } = await start()
  const { token, api } = await service.user('mary')
  const page = await openConsole(t, browser, { url: service.url(), token, at: '#/profiles' })
  await page.getByRole('button', { name: 'New profile' }).click()
  await page.getByLabel('Name').fill('kept')
  await api.call('logout', { body: {} })
  await page.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your login has ended' })
  await dialog.waitFor()
  await checkAccess(t, page, 'log in again')
  await dialog.getByLabel('Password').fill(passwordOf('mary'))
  await dialog.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('region', { name: 'Profiles' }).getByText('kept').waitFor()
})

browserTest('the timeline marks an event whose stored bytes were changed as damaged [B5]', async (t) => {
  const { service, browser } = await start()
  const client = await service.user('auditor')
  const live = await client.createLive()
  await client.put(`/lives/${live.id}/finish`)
  const at = `#/sessions/${live.id}?tab=timeline`
  const page = await openConsole(t, browser, { url: service.url(), token: client.token, at })
  await page.getByText('✓ 2 of 2 events intact').waitFor()
  const database = new DatabaseSync(join(service.dataDirectory, 'events.sqlite'), { timeout: 5000 })
  const flip =
    "UPDATE events SET metadata = replace(metadata, 'recordedAt', 'recordedAu') " +
    'WHERE rev = 1 AND sid = (SELECT sid FROM streams WHERE name = ?)'
  t.is(Number(database.prepare(flip).run(`live-${live.id}`).changes), 1)
  database.close()
  await page.reload()
  await page.getByText('! Damaged events: 1').waitFor()
  await checkAccess(t, page, 'session, damaged')
})

browserTest('a page disconnected as too slow (1013) fetches the missed captions once [B47]', async (t) => {
  const { service, browser } = await start()
  const client = await service.user('dawdler')
  const live = await client.createLive()
  const page = await openConsole(t, browser, { url: service.url(), token: client.token })
  const addresses: Array<string> = []
  const slow = Promise.withResolvers<() => Promise<void>>()
  await page.routeWebSocket(/\/ws\/live\//, (socket) => {
    addresses.push(socket.url())
    socket.connectToServer()
    slow.resolve(() => socket.close({ code: 1013, reason: 'slow_consumer' }))
  })
  await page.goto(`${service.url()}/#/sessions/${live.id}`)
  await page.reload()
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  const lines = page.getByRole('log').locator('bdi')
  for (const [i, { samples }] of (await sampleSentences()).slice(0, 2).entries()) {
    sender.sendAudio(samples)
    sender.sendAudio(silence(1.5))
    await lines.nth(i).waitFor()
    if (i === 0) await (await slow.promise)()
  }
  t.is(await lines.count(), 2)
  t.true(addresses.length > 1 && addresses.at(-1)?.endsWith('&after=1') === true, addresses.join('\n'))
})
