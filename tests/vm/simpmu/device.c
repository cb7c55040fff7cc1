// SPDX-License-Identifier: GPL-2.0-only
#include "device.h"

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "simpmu.h"

static int fire(const struct simpmu_sample *sample, struct branch_rows *rows)
{
	struct pt_regs regs = *task_pt_regs(current);
	unsigned long flags;
	int n;

	if (sample->ip)
		regs.ip = sample->ip;
	rows->stack.nr = sample->nr;
	rows->stack.hw_idx = sample->hw_idx;
	memcpy(rows->entries, sample->rows, sample->nr * sizeof(rows->entries[0]));
	local_irq_save(flags);
	n = overflow_now(NULL, &regs, rows);
	local_irq_restore(flags);
	return n;
}

static long device_ioctl(struct file *file, unsigned int request, unsigned long argument)
{
	struct simpmu_sample *sample;
	struct branch_rows *rows;
	long r = -ENOMEM;

	if (request != SIMPMU_FIRE)
		return -ENOTTY;
	sample = kmalloc(sizeof(*sample), GFP_KERNEL);
	rows = kmalloc(sizeof(*rows), GFP_KERNEL);
	if (sample && rows) {
		r = 0;
		if (copy_from_user(sample, (void __user *)argument, sizeof(*sample)))
			r = -EFAULT;
		else if (sample->nr > SIMPMU_MAX_ROWS)
			r = -EINVAL;
	}
	if (r == 0)
		r = fire(sample, rows);
	kfree(sample);
	kfree(rows);
	return r;
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = device_ioctl,
};

static struct miscdevice simpmu_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "simpmu",
	.fops = &device_operations,
	.mode = 0666,
};

int simpmu_device_register(void)
{
	return misc_register(&simpmu_device);
}

void simpmu_device_unregister(void)
{
	misc_deregister(&simpmu_device);
}
