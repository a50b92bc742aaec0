-- Neovim's own client on `keyfold lsp`: prints what an editor shows, one line each.
local buffer
local function say(what, words) io.stdout:write(what .. ": " .. words .. "\n") end
local function until_true(what) assert(vim.wait(60000, what, 20), "nothing came from the server") end
local function codes()
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(found, (one.code or "-") .. "@" .. (one.lnum + 1))
  end
  table.sort(found)
  return table.concat(found, " ")
end

vim.cmd("edit " .. vim.env.DESIGN)
buffer = vim.api.nvim_get_current_buf()
local id = vim.lsp.start_client({ name = "keyfold", cmd = { vim.env.PYTHON, "-m", "keyfold", "lsp" } })
vim.lsp.buf_attach_client(buffer, id)
until_true(function() return codes():find("K8") end)
say("opened", codes())

-- On `Listing` in a pattern.
local last = vim.api.nvim_buf_line_count(buffer)
local column = vim.fn.getline(last):find("Listing,") - 1
vim.api.nvim_win_set_cursor(0, { last, column })
local function ask(method, more)
  local given = vim.tbl_extend("force", vim.lsp.util.make_position_params(), more or {})
  local found = vim.lsp.buf_request_sync(buffer, method, given, 60000)
  return found[id].result
end
say("hover", ask("textDocument/hover").contents.value:gsub("\n", " "))
say("definition", tostring(ask("textDocument/definition").range.start.line + 1))

-- A slot in a key template.
local line = vim.fn.search("PRICE#<", "w")
vim.api.nvim_win_set_cursor(0, { line, vim.fn.getline(line):find("PRICE#<") + 6 })
local offered = {}
for _, one in ipairs(ask("textDocument/completion").items) do table.insert(offered, one.label) end
say("completion", table.concat(offered, " "))

-- Typed letter by letter: wrong, then right again.
local text = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
vim.cmd("normal! Go")
for letter in ("  Broken: {get: Nobody}"):gmatch(".") do
  vim.api.nvim_feedkeys("a" .. letter .. vim.api.nvim_replace_termcodes("<Esc>", true, false, true), "x", false)
end
until_true(function() return codes():find("@" .. (last + 1)) end)
say("typed", codes())
vim.api.nvim_buf_set_lines(buffer, 0, -1, false, text)
until_true(function() return codes():find("K8") and not codes():find("@" .. (last + 1)) end)
say("undone", codes())
vim.lsp.stop_client(id, true)
vim.cmd("qa!")
