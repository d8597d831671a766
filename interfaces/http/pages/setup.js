'use strict'

// The token is in the fragment, which no server and no log ever sees; it is taken out of the address bar at once and kept nowhere.
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
history.replaceState(null, '', location.pathname)

const byId = (id) => document.getElementById(id)
const form = byId('form')
const message = byId('message')
const result = byId('result')
const submit = byId('submit')
const fields = { username: byId('username'), password: byId('password'), repeat: byId('repeat') }

const show = (text, field) => {
  for (const input of Object.values(fields)) input.removeAttribute('aria-invalid')
  message.textContent = text
  message.hidden = text === ''
  if (text === '') return
  if (field === undefined) return message.focus()
  fields[field].setAttribute('aria-invalid', 'true')
  fields[field].focus()
}

const finish = (text) => {
  form.hidden = true
  result.textContent = text
  result.focus()
}

/** The first thing that is wrong with what was typed: [text, field], or null. */
const complaint = () => {
  const { username, password, repeat } = fields
  if (username.value === '') return ['Please choose a username.', 'username']
  if (Array.from(username.value).length > 100) return ['The username is longer than 100 characters.', 'username']
  const size = new TextEncoder().encode(password.value).length
  if (size < 8) return ['The password is shorter than 8 characters.', 'password']
  if (size > 1024) return ['The password is longer than 1024 bytes.', 'password']
  if (password.value !== repeat.value) return ['The two passwords are not the same.', 'repeat']
  return null
}

const explain = async (response) => {
  const { detail } = await response.json()
  if (!Array.isArray(detail)) return show(`${detail}.${response.status === 403 ? ' Restart the service for a new link if no account exists yet.' : ''}`)
  const first = detail[0]
  const name = first.loc.at(-1)
  return show(`${name}: ${first.msg.replace(/^Value error, /, '')}`, name in fields ? name : undefined)
}

const send = async () => {
  submit.disabled = true
  try {
    const body = JSON.stringify({ token, username: fields.username.value, password: fields.password.value })
    const response = await fetch(location.pathname, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    if (response.ok) finish(`Done. You can now log in as ${fields.username.value}.`)
    else await explain(response)
  } catch {
    show('The service did not answer. Is it running? Please try again.')
  } finally {
    submit.disabled = false
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const wrong = complaint()
  show(...(wrong ?? ['']))
  if (wrong === null) void send()
})

if (token === '') finish('This link is incomplete: its token is missing. Copy the whole address that the service printed when it started.')
else form.hidden = false
